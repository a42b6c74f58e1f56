"""What is done for each route: from a checked request to an answer, one module a resource."""
