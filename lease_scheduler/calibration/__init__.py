"""How long a Nova takes for what leases need of it: servers of our own are put away and brought back, and timed.

What is measured becomes the options of the time model (haizea F69-F74, F94). No option is read here, and nobody else's
servers are touched.
"""
