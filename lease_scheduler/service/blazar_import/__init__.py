"""What a Blazar keeps, taken over as it is: the same hosts, leases and ids, the same hosts for each lease.

Pure: from the values that ``store.blazar`` has read and those that the site has already to the changes of one
transaction. Whatever would break a promise refuses all of it.
"""
