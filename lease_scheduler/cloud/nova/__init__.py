"""Driver for OpenStack: aggregates, flavors and servers in Nova, held capacity and slots in Placement.

Everything is named after its lease, so that a repeated step finds what is there, even if another engine repeats it.
"""
