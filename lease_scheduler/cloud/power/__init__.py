"""Switching hosts off and on: a driver for each kind of hardware, and the keeper that uses it."""
