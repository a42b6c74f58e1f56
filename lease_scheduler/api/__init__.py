"""REST: Blazar's v1 as its clients know it, and more of it from microversion 1.1 on.

The routes are data; handlers, schemas and access rules of a resource have the same file name. It reads through
``Reader`` and changes things through ``EngineRequests`` only, and knows neither options nor databases nor messages.
"""
