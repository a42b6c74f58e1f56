"""Metrics of a running engine, for Prometheus.

Events are counted when they are written; the state of the site is looked up when metrics are requested. Nothing here
reads the database or decides anything. Labels are names of kinds, states, classes and peers, never of leases.
"""
