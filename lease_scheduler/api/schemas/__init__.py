"""JSON schemas (draft 2020-12) of bodies, query parameters and answers, one module per resource.

Requests are closed: a key that a schema does not name is refused.
"""
