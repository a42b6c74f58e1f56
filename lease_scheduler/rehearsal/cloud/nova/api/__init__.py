"""The compute API: one resource a module."""
