"""Conversion of the plain values of engine and reader to what clients see."""
