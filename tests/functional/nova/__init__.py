"""Parts that run inside Nova, in Nova's own environment."""
