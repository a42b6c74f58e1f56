"""What a lease has in an OpenStack: aggregates with metadata, flavors, slots in Placement, and servers."""
