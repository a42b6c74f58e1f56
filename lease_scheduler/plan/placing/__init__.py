"""Places for leases outside of the queue: reservations, immediate and deadline leases, and elastic sizes."""
