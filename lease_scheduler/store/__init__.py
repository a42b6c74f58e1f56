"""Store drivers: they remember leases."""
