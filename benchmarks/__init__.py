"""Benchmarks of the planner, the simulator and the service; ``python -m benchmarks`` runs the first two."""
