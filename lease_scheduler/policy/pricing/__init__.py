"""Pricing policies: what a lease costs. stevedore namespace ``lease_scheduler.policy.pricing``."""
