"""Admission: which requests are considered at all. stevedore namespace ``lease_scheduler.policy.admission``."""
