"""Rehearsals: the programs of the service in a simulated world, and the command that runs one."""
