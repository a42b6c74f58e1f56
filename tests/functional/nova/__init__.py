"""What runs inside Nova, in its own environment."""
