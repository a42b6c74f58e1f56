"""Haizea's programs under their own names: the simulator, its XML-RPC service, clients and workload tools."""
