"""Tests that run in Nova's own environment; of this project, only the package is on the path there."""
