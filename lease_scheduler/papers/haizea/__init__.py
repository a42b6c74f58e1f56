"""The experiments of Haizea's dissertation (Sotomayor 2010)."""
