"""Conversion of request bodies to the plain values that the engine takes."""
