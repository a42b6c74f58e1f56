"""A real OpenStack control plane on loopback: Keystone, Placement, Glance and Nova, with fake hypervisors."""
