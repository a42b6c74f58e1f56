"""Requests from the API to the engine over oslo.messaging, and notifications. No decision is made here."""

from oslo_service.backend import BackendType, init_backend

# oslo.messaging imports oslo.service, whose default backend is eventlet.
init_backend(BackendType.THREADING)
