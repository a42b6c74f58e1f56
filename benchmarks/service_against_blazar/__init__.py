"""The reservation service compared with Blazar 18, on the same database server, broker, hosts, leases and requests."""
