"""Metrics of a running engine, for Prometheus.

Events are counted when they are written; the state of the site is looked up when metrics are requested. Nothing here
reads the database or decides anything. Labels are names of kinds, states and classes, never of leases.
"""
