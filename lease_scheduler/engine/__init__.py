"""The life cycle of leases: admit, plan, act when something is due, plan again when the world deviates.

Owns the interfaces that it needs (Clock, Cloud, Store, Recorder); knows no driver. The same engine serves the simulator
and the service.
"""
