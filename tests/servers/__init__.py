"""Real servers for tests: MariaDB, PostgreSQL and RabbitMQ, each below a temporary folder and on loopback ports only.

Nothing of the system's own servers is used or touched, and no privileges are needed.
"""
