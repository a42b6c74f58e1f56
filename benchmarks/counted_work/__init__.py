"""Counted work of fixed scenarios, held against committed ranges; ``make benchmark-check``.

Seconds differ from machine to machine; calls, statements, rows and commands do not. So a change that makes the planner
or the service do more work for the same requests is seen by every run of the tests, on any machine.
"""
