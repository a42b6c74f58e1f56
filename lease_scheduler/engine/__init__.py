"""The life cycle of leases: admit, plan, act when something is due, and replan when reality deviates from the plan.

The engine owns the interfaces that it needs (Clock, Cloud, Store, Recorder) and knows no driver. The same engine runs
in the simulator and in the service.
"""
