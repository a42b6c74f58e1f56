"""A simulated Grid: gateways that pass requests on to the sites of a world, and to each other, by delayed messages.

A gateway here negotiates and routes with the code of a live one (``federation.negotiation``, ``federation.routing``).
Only what is around it differs: messages of ``post`` in place of HTTP, and no database, as nothing is killed.
"""
