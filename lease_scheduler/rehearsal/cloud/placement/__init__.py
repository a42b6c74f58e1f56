"""The model of Placement."""
