"""Benchmarks of planner, simulator, predictors and service; ``python -m benchmarks`` runs all but the last."""
