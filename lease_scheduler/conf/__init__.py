"""All options (oslo.config), with one module for each group, and their conversion into plain values.

Only ``cmd`` imports this package. It reads options, at the start and when they are reloaded, and passes plain values
on.
"""
