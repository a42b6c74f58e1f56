"""Counted work of fixed scenarios, compared with committed ranges; ``make benchmark-check``.

Seconds differ from machine to machine; calls, statements, rows and commands do not. So if a change makes the planner or
the service do more work for the same requests, every run of the tests shows it, on any machine.
"""
