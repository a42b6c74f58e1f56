"""Driver for OpenStack: aggregates, flavors and servers in Nova, held capacity and slots in Placement.

Everything is named after its lease, so that a step that is repeated, also by another engine, finds what is there.
"""
