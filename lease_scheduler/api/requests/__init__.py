"""Turns what clients send into the plain values that the engine knows."""
