"""What Nova, Placement, Glance, Neutron and Keystone offer, as this driver uses it.

Modules here know requests and answers. They know no leases, apart from how things of leases are named.
"""
