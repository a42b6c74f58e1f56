"""The vocabulary of the project: resources, hosts, leases, their states and their holdings.

All of them are plain frozen values. Nothing here knows the time, does I/O or makes decisions.
"""
