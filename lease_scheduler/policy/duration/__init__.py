"""Duration policies: how long leases are expected to run."""
