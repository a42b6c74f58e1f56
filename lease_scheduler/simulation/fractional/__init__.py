"""Simulated clusters on which jobs share CPU, and batch schedulers to compare with (Stillwell 2010, section 5.3)."""
