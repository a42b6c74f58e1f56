"""What an operator watches of an engine that runs, for Prometheus.

Events are counted when they are written; what is so at an instant is looked up when somebody asks. Nothing here reads
the database or decides anything. Labels are names of kinds, states and classes, never of leases.
"""
