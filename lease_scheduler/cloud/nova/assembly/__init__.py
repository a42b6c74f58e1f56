"""Puts the parts of the driver for OpenStack together."""
