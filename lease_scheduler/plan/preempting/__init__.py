"""Which leases are preempted for a request, and when the rest of their work is done."""
