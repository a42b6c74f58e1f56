"""Penalty policies: what the provider owes for breaches. stevedore namespace ``lease_scheduler.policy.penalty``."""
