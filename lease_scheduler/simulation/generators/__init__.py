"""Random workloads and annotations: laws, reservation sets, annotations and their configuration files.

A law and a seed go in, plain values come out; the same seed gives the same values on every machine. Nothing here
writes a file or plans a lease.
"""
