"""Handlers of the routes: from a checked request to an answer, one module per resource."""
