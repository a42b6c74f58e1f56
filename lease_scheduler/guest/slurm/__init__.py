"""Slurm as the queue of a guest: its nodes in the state CLOUD, by ``squeue``, ``sinfo``, ``scontrol`` and its hooks."""
