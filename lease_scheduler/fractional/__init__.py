"""Fractions of hosts: jobs that share CPU by their yields, and hold memory for themselves.

A job has *fixed* requirements, which it holds completely (memory), and *fluid* needs, of which it gets a fraction
(CPU). The fraction is its *yield*. The aim is the highest least yield. All amounts are fractions of one node, from 0
to 1.

Pure: no clock, no files, no options, no OpenStack, only NumPy and SciPy, and numba where it is installed. The source is
Stillwell 2010 (chapters 3 to 6), whose sections each module names. ``doc/source/papers/dfrs.rst`` has the results.
"""
