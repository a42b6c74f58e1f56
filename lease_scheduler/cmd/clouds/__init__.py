"""Configured clouds: the entry points of namespace ``lease_scheduler.cloud``."""
