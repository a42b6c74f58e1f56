"""Queueing policies: in which order queued leases get places."""
