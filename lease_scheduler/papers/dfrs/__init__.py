"""Experiments of Stillwell 2010: fractions of hosts."""
