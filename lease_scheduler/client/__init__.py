"""The ``openstack lease ...`` commands: a plug-in of python-openstackclient that speaks to the REST API.

It imports nothing of the other rooms, as it runs on the machines of users; what is right and wrong, the API decides.
"""
