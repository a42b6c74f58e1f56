"""Assurance policies: for how long preemptible leases are promised to run."""
