"""Reading of Blazar's database, to import its hosts, floating IPs and leases. Nothing is written there.

This package knows only Blazar's tables; ``service.requests.blazar_import`` decides what is done with the values.
"""
