"""Decisions that an operator selects by name: one folder per stevedore namespace, one class a file.

Policies are pure: plain values in, a decision out; no I/O, no clock, nothing of OpenStack.
"""
