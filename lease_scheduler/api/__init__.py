"""The REST API: Blazar's v1 at microversion 1.0, with extensions from microversion 1.1 on.

The routes are data. Routes, handlers, schemas and access rules of a resource share a file name. The package reads
through ``Reader`` and makes changes through ``EngineRequests`` only; it depends on no options, database or message bus.
"""
