"""Faults that are planted in a copy of the code, to see whether worlds of faults find them."""
