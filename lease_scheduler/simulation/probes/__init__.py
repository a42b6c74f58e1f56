"""Probes that look at a run and write down what they see (haizea F43), one class a file.

They change nothing. What they write is ``simulation.accounting``; what is measured is computed by
``simulation.metrics``.
"""
