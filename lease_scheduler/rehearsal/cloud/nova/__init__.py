"""The model of Nova: its API (``api``), its scheduler (``scheduler``) and its compute services (``compute``)."""
