"""Recorded and generated workloads, run through the very engine and policies of the service.

Formats, generators, runs, metrics, experiments, reports and plots. Nothing here plans or decides, and
nothing of the service imports it.
"""
