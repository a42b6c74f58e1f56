"""What a lease is in Nova: aggregates and their metadata, flavors, slots in Placement, and its servers."""
