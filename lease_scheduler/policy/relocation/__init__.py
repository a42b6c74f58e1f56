"""Relocation policies: which running nodes move to other hosts.

The engine asks the configured one (``engine.live_moves``); studies of broker and provider use them too
(``papers.shirako``).
"""
