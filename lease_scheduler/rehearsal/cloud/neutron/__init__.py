"""The model of Neutron: networks, ports and floating IPs."""
