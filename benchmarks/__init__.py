"""How fast the planner and the simulator are, on this machine; ``python -m benchmarks`` runs everything."""
