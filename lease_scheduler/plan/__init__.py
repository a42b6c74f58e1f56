"""Planning: which lease holds which part of which host, and when.

Pure and in memory: no clock, no I/O, no oslo, no OpenStack. Instants are integer seconds that the caller passes.
Policies that an operator selects are passed as arguments (``plan.interfaces``), never imported.
"""
