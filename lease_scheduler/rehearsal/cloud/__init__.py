"""A model of Keystone, Placement, Nova, Glance and Neutron in this process.

Real clients (keystoneauth, python-novaclient) talk to it by HTTP requests, for which no socket is opened
(``http.installed``). It has no thread and no clock of its own: what takes time is called later by the caller's clock.
The same seed gives the same history.
"""
