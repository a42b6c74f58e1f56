"""A queue that leases its nodes: the tenant's side of a batch system whose nodes come and go as leases.

A program of the tenant on top of ``sdk``; it knows no part of the service. One round (``rounds``) looks at the demand
of the queue and at the leases it has, lets a controller decide what to ask for, and lets nodes join and leave the
queue. ``controllers`` decide, ``nodes`` says what is due for each node; both are pure. ``records`` is the database,
which is written before each call. ``slurm`` is the queue, ``site`` the service that grants leases.

Sources: L. Grit, "Extensible resource management for networked virtual computing" (2007), sections 4.5 and 7.2 to 7.5.
"""
