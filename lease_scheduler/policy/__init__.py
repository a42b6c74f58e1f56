"""Policies that an operator selects by name: one folder per stevedore namespace, one class per file.

Policies are pure: plain values in, a decision out. They do no I/O, read no clock and know nothing of OpenStack.
"""
