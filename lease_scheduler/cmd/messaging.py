"""Transports of oslo.messaging for a configuration object other than the global one."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg
from oslo_service.backend import BackendType, init_backend

# Must precede the import of oslo.messaging, which imports oslo.service, whose default backend differs.
init_backend(BackendType.THREADING)

import oslo_messaging  # noqa: E402
from oslo_messaging import opts as messaging_options  # noqa: E402

#: Options that oslo.messaging reads from the given configuration, but registers only in the global one.
_UNKNOWN = {
    "oslo_messaging_tracing": cfg.BoolOpt("tracing_enabled", default=False, help="Trace RPC calls."),
    "oslo_messaging_metrics": cfg.BoolOpt("metrics_enabled", default=False, help="Send metrics of RPC calls."),
}


#: Defaults of the driver and the topics of notifications.
_NOTIFICATIONS = {"driver": ["messagingv2"], "topics": ["lease_notifications"]}


def complete(conf: cfg.ConfigOpts) -> None:
    """Register all options that a transport needs."""
    for group, option in _UNKNOWN.items():
        conf.register_opt(option, group=group)


def set_request_threads(conf: cfg.ConfigOpts, threads: int) -> None:
    """Set the default of the number of threads that answer requests.

    oslo.messaging registers the option only when it makes a server.
    """
    conf.register_opts(dict(messaging_options.list_opts())[None])
    messaging_options.set_defaults(conf, executor_thread_pool_size=threads)


def rpc_transport(conf: cfg.ConfigOpts) -> Any:
    """Return the transport for requests to the engine."""
    complete(conf)
    return oslo_messaging.get_rpc_transport(conf)


def listening_transport(conf: cfg.ConfigOpts, url: str | None) -> Any:
    """Return the transport for listening to the notifications of other services.

    :param url: transport URL to which they are sent; None for that of this service
    """
    return oslo_messaging.get_notification_transport(conf, url)


def notification_transport(conf: cfg.ConfigOpts) -> Any:
    """Return the transport for sending notifications."""
    complete(conf)
    transport = oslo_messaging.get_notification_transport(conf)
    # Only now are the options registered. With the library's defaults, nothing would be sent, and to the topic of
    # other services.
    for name, value in _NOTIFICATIONS.items():
        conf.set_default(name, value, group="oslo_messaging_notifications")
    return transport
