"""Dispatch policies: which member gets the next request, so that each gets its share."""
