"""A gateway: it asks several members for what tenants ask it for once.

``driver`` makes the calls of negotiations (``federation.negotiation``), ``following`` takes over what members tell of
their leases, and ``requests`` answers what the REST interface asks of an engine.
"""
