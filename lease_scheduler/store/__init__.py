"""The database of leases, and a reader of Blazar's database."""
