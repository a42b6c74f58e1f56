"""Relocation policies: which running nodes move to other hosts.

Studies of broker and provider use them (``simulation.experiments.shirako``).
"""
