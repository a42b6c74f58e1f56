"""How hosts become free for leases: which servers give way, how they do so, and how they come back.

A project can do much to its servers, but nothing that keeps a host from the lease of another project.
"""
