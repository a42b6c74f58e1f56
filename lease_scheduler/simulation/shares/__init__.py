"""Studies of shares: the queueing policy alone on a calendar of widths, without hosts, leases or a cloud."""
