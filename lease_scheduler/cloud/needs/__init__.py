"""Sources of needs, which tell how much CPU the servers of fluid leases use. Operators select one by its name."""
