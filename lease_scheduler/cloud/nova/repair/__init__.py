"""The comparison of leases with what exists in the cloud, and the removal of what should not be there."""
