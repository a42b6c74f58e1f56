"""Admission policies: which requests are planned at all. stevedore namespace ``lease_scheduler.policy.admission``."""
