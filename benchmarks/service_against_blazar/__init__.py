"""The reservation service beside Blazar 18: the same database server, broker, hosts, leases and requests."""
