"""Options of every part, one module a group (oslo.config).

Options are read once, at start, by ``cmd`` and turned into plain values there; no other room imports this one.
"""
