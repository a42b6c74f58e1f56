"""The ``openstack lease ...`` commands: a plug-in of python-openstackclient that talks to the REST API.

It runs on the machines of users, so it imports only values from other packages (``model`` and ``records``). The API
decides which requests are valid.
"""
