"""Between API and engine over oslo.messaging, and notifications to the outside. No decision is made here."""

from oslo_service.backend import BackendType, init_backend

# oslo.messaging imports oslo.service, whose own default is eventlet.
init_backend(BackendType.THREADING)
