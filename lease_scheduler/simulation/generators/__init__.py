"""Generators of random workloads and annotations, and their configuration files.

From a law (a probability distribution) and a seed they make plain values. The same seed gives the same values on every
machine. Nothing here writes a file or plans a lease.
"""
