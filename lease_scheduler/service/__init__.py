"""The engine as a service: one plan per site, requests from the API, recovery from crashes, and several engines.

It turns requests into leases, writes every step of the engine in one transaction, and has the cloud carry out what was
written. It uses the engine's interfaces and plain records; drivers are passed to it.
"""
