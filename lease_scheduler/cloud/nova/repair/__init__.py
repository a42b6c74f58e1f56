"""Comparison of leases with what exists in the cloud, and removal of what should not be there."""
