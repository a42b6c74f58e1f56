"""What is done without a request: comparison with the cloud, reports and orders, measurements, and what is due."""
