"""Conversion of options into the values that engine, clouds and simulator take."""
