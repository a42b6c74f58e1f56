"""Observation of the cloud, by notifications, and by queries at intervals for everything else."""
