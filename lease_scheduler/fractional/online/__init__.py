"""On-line scheduling by fractions: where jobs start, which are paused or moved, and what each gets (Stillwell 2010)."""
