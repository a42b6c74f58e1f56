"""Controllers: what a guest asks for, given the jobs that wait and the leases that it has. One class per file.

A controller is selected by its name in the stevedore namespace ``lease_scheduler.guest.controller``. It has no state,
so a guest that was killed decides the same again.
"""
