"""Choice of hosts: candidates of Placement, filters and weighers, among them our own."""
