"""A database as the store: SQLite, MariaDB or PostgreSQL. Tables, migrations, one writer (fenced) and readers."""
