"""Haizea's configuration files in terms of our own options (haizea F41, F42, section 9.1).

Plain text in, plain values out; a bad file is an ``InputFileError`` with file, line and problem.
"""
