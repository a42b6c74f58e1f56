"""The database of a Blazar, read to take over what it keeps: its hosts, addresses and leases. Nothing is written there.

Knows Blazar's tables and nothing else; what becomes of the values is decided in ``service.blazar_import``.
"""
