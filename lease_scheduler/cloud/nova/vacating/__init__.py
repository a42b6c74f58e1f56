"""How hosts become free for leases: which servers make room, in which way, and how they come back.

A project decides much about its servers. Nothing that it does to them keeps a host from the lease of another project.
"""
