"""Host selection policies: the order in which hosts are filled.

stevedore namespace ``lease_scheduler.policy.host_selection``.
"""
