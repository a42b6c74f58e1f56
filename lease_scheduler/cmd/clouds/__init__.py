"""Clouds as the configuration describes them: the entry points of namespace ``lease_scheduler.cloud``."""
