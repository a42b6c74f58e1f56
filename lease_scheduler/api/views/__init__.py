"""Converts between what clients send and see, and the plain values that engine and reader know."""
