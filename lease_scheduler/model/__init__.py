"""The vocabulary of the project: resources, hosts, leases, their states and their holdings.

All are frozen values. Nothing here reads a clock, does I/O or makes decisions.
"""
