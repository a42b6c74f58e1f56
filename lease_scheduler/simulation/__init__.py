"""Simulation: recorded and generated workloads, run with the engine and the policies of the service.

It contains formats, generators, runs, metrics, experiments, reports and plots. Nothing here plans or decides, and
the service imports nothing from here.
"""
