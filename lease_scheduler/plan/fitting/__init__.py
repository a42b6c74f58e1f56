"""Where one lease fits: possible instants and hosts, and the mapping of its nodes. No other lease moves."""
