"""Compatibility with Haizea: its XML-RPC methods, configuration files, status messages and results as CSV.

The workload formats (LWF, SWF) and the result columns are in ``simulation``, which needs them itself. Haizea's programs
are in ``cmd.haizea``.
"""
