"""Switches hosts off and on: a driver for each kind of hardware, and the thread that uses it."""
