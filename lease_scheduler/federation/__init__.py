"""Capacity of several members as one: asking them, choosing among them, and negotiating one lease with them.

A *member* is anything that can be asked for capacity: a pool of this site, another site, a gateway or a broker. All of
this room is pure: members are called by others, and their answers, the time and random numbers are passed in.
"""
