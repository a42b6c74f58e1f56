"""Takeover of the contents of a Blazar: its hosts and leases with their ids, and the hosts of each lease.

A pure computation turns what ``store.blazar`` has read and what the site already has into the changes of one
transaction. If any promise would be broken, nothing is taken over.
"""
