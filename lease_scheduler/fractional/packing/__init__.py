"""Vector packings, and the search for the highest yield at which one of them succeeds (Stillwell 2010, 4.2.5)."""
