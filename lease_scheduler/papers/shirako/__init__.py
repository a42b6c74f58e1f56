"""Extensible resource management for networked virtual computing (Grit, Duke University, 2007), on one site."""
