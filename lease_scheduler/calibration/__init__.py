"""Measurement of how long Nova takes for the operations that leases need.

Test servers are suspended, resumed and so on. The measurements become options of the time model (haizea F69-F74, F94).
This package reads no options, and touches no servers but those that it has made.
"""
