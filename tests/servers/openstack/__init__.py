"""A real OpenStack control plane on loopback: Keystone, Placement, Glance and Nova. Its hypervisors only pretend."""
