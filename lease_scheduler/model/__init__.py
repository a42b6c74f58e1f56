"""What things are: resources, hosts, leases, their states and their reservations.

Only plain frozen values live here. Nothing here knows the time, does I/O or decides anything.
"""
