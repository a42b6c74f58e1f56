"""Filter and weigher for nova-scheduler. They read host aggregates and nothing else.

Needs only Nova, oslo.config and the standard library, so it can be installed beside Nova without the rest. Scheduling a
server takes no database query, no message and no call to another service.
"""
