"""Transports of oslo.messaging for a configuration object of one's own."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg
from oslo_service.backend import BackendType, init_backend

# Before oslo.messaging is imported, which imports oslo.service, whose default is another one.
init_backend(BackendType.THREADING)

import oslo_messaging  # noqa: E402

#: oslo.messaging reads these options of whatever configuration it is given, but makes them known to the global one.
_UNKNOWN = {
    "oslo_messaging_tracing": cfg.BoolOpt("tracing_enabled", default=False, help="Trace RPC calls."),
    "oslo_messaging_metrics": cfg.BoolOpt("metrics_enabled", default=False, help="Send metrics of RPC calls."),
}


#: What notifications are sent by and where to, if the operator does not say.
_NOTIFICATIONS = {"driver": ["messagingv2"], "topics": ["lease_notifications"]}


def complete(conf: cfg.ConfigOpts) -> None:
    """Make all options known that a transport needs."""
    for group, option in _UNKNOWN.items():
        conf.register_opt(option, group=group)


def rpc_transport(conf: cfg.ConfigOpts) -> Any:
    """The transport for requests to the engine."""
    complete(conf)
    return oslo_messaging.get_rpc_transport(conf)


def listening_transport(conf: cfg.ConfigOpts, url: str | None) -> Any:
    """Return the transport for the notifications of others.

    :param url: where they are sent; None for where our own go
    """
    return oslo_messaging.get_notification_transport(conf, url)


def notification_transport(conf: cfg.ConfigOpts) -> Any:
    """The transport for notifications."""
    complete(conf)
    transport = oslo_messaging.get_notification_transport(conf)
    # Only now are the options known. Those of the library would send nothing, to where others listen.
    for name, value in _NOTIFICATIONS.items():
        conf.set_default(name, value, group="oslo_messaging_notifications")
    return transport
