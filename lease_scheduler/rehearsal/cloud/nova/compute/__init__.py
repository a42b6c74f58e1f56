"""The work of nova-conductor and nova-compute: what takes time, on hosts that can stop in between."""
