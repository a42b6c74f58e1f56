"""The life cycle of leases: admit, plan, act when something is due, and plan again when reality deviates.

The engine owns the interfaces that it needs (Clock, Cloud, Store, Recorder) and knows no driver. The same engine serves
the simulator and the service.
"""
