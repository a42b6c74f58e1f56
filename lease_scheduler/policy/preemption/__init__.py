"""Preemption policies: which leases may be preempted for a request.

Policies never see leases that are not preemptible. stevedore namespace ``lease_scheduler.policy.preemption``.
"""
