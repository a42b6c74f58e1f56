"""Changes of leases that have a place: new terms, other hosts, early ends, outages."""
