"""Cloud drivers, which carry out what the engine decides and report what really happens."""
