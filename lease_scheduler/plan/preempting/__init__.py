"""Which leases make room for a request, and where these have their remaining work."""
