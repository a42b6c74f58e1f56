"""Mapper policies: how nodes are distributed over hosts. stevedore namespace ``lease_scheduler.policy.mapper``."""
