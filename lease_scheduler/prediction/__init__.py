"""Forecasts with a stated confidence: quantile bounds of what was observed, and what follows from them.

Pure and streaming: no clock, no files, no options, no OpenStack, only NumPy and SciPy. Nothing here assumes a
distribution. Instants and durations are seconds; a quantile and a confidence are numbers between 0 and 1. The sources
are Pucher 2016 (chapters 3 to 5) and the publications on BMBP and QBETS, which each module names.

``doc/source/contributor/prediction.rst`` shows how to use the modules from other programs.
"""
