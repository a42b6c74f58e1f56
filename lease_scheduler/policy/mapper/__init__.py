"""Mapper policies: how VMs are distributed over hosts. stevedore namespace ``lease_scheduler.policy.mapper``."""
