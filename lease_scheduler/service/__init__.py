"""The engine as a service: one planner thread per site, requests from outside, crashes and several engines.

Turns what tenants ask for into leases, writes every step of the engine in one transaction and has the cloud carry out
what was written. Knows the engine's interfaces and plain records; drivers are given to it.
"""
