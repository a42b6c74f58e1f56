"""Translation of Haizea's configuration files into our options (haizea F41, F42).

A bad file raises ``InputFileError`` with file, line and problem.
"""
