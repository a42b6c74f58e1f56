"""The parts of the APIs of Nova, Placement, Glance, Neutron and Keystone that this driver uses.

Modules here know requests and answers. Of leases they know only how their things are named.
"""
