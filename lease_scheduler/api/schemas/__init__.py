"""What bodies, query parameters and answers look like: JSON schemas (draft 2020-12), one module a resource.

Requests are closed: a key that a schema does not name is refused.
"""
