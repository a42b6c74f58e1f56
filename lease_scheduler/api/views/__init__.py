"""Turns the plain values of engine and reader into what clients see."""
