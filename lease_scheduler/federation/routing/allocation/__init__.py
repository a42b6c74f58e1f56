"""Allocation policies: the share of each member in the requests, or the order in which members are tried."""
