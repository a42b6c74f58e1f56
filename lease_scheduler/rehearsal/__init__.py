"""Rehearsals: the whole service in one process and one thread, in a world whose history a seed decides.

``runtime`` has what a world is made of: simulated threads, processes, clocks, message broker, database and elections.
``cloud`` models OpenStack's services. ``world`` puts them together. The programs that run in a world come from
``cmd.rehearsing``.
"""
