"""Real servers for tests: MariaDB, PostgreSQL and RabbitMQ, each in a temporary folder and on loopback ports only.

They do not touch the system's own servers, and need no privileges.
"""
