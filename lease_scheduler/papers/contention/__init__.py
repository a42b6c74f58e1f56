"""Contention-aware resource provisioning in interconnected Grids (Amini Salehi, Melbourne, 2012)."""
