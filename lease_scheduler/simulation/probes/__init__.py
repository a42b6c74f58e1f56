"""Probes, which observe a run and record what they see, one class per file (haizea F43).

They change nothing. Their records are in ``simulation.accounting``; ``simulation.metrics`` computes the measurements.
"""
