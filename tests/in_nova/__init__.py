"""Tests that run inside Nova: in its environment, where our package is on the path and nothing else of ours is."""
