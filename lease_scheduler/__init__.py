"""Lease scheduler: reservations, deadlines and best-effort leases on one pool of OpenStack hosts."""
