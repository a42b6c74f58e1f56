"""The experiments of Sotomayor 2010 (Haizea)."""
