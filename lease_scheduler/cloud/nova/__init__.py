"""Leases on a real OpenStack: aggregates, flavors and servers in Nova, held capacity and slots in Placement.

Everything is named after the lease, so that each step can be repeated by whoever comes next, and finds what is there.
"""
