"""Leases whose servers use nothing: their projects are told, and later they are ended if the operator wants that."""
