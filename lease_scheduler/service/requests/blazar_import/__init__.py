"""Takeover of the contents of a Blazar: the same hosts, leases and ids, and the same hosts for each lease.

All of it is computed from values: from what ``store.blazar`` has read and what the site already has, to the changes of
one transaction. If one promise would be broken, nothing is taken over.
"""
