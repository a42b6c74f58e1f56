"""Work without a request: steps of the plan, orders and reports, comparison with the cloud, and measurements."""
