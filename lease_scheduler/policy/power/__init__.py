"""Power policies: how many hosts sleep, and when sleeping hosts wake."""
