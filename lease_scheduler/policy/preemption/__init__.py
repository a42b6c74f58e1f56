"""Preemption: who may have to make room for whom. stevedore namespace ``lease_scheduler.policy.preemption``.

Leases that are not preemptible never get to a policy.
"""
