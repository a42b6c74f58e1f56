"""The queue of best-effort leases: its order, and places for the leases whose turn it is."""
