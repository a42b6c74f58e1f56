"""Observation of the cloud: notifications, and queries at intervals for what is not told."""
