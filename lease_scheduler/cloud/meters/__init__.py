"""Meters, which tell whether the servers of leases use anything. Operators select one by its name."""
