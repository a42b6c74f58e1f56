"""What nova-scheduler loads: a filter and a weigher that read host aggregates, and nothing else.

Needs Nova, oslo.config and the standard library only, so that it can be installed beside Nova without the rest. No
database, no message and no other service is asked while servers are scheduled.
"""
