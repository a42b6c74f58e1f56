"""The off-line problem as linear and mixed integer programs, and heuristics that round their solutions."""
