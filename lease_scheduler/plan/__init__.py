"""Where and when: who holds which part of which host, now and later.

Pure and in memory: no clock, no I/O, no oslo, no OpenStack. Instants are integer seconds that the caller
gives. Decisions that an operator selects come in as arguments (``plan.interfaces``), never by import.
"""
