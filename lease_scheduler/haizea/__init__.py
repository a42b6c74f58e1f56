"""What Haizea's users know: its XML-RPC methods, configuration files, status messages and results as CSV.

The simulator's workload formats (LWF, SWF) and result columns are in ``simulation``, which needs them itself; Haizea's
programs are in ``cmd.haizea``.
"""
