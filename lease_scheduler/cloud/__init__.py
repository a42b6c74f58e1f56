"""Cloud drivers: they carry out what the engine decides and report what really happens."""
