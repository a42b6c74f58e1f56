"""The model of Glance."""
