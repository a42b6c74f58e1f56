"""Stores of leases: in memory, in a database, and a reader of Blazar's database."""
