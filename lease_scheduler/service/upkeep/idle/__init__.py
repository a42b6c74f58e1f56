"""Idle leases: their projects are told, and later the leases are ended if the operator wants that."""
