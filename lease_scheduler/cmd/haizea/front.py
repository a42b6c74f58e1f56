"""``lease-scheduler-haizea-front``: Haizea's XML-RPC interface, answered by the REST service.

Any number of fronts may run, on any machine, because they keep no state.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from keystoneauth1 import loading
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import ClientException
from oslo_config import cfg
from oslo_log import log

from lease_scheduler.api.server import Server, ServerSettings
from lease_scheduler.client.rest import SERVICE_TYPE, LeaseClient
from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.rest import is_loopback
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.conf import haizea
from lease_scheduler.haizea.frontend.application import MAXIMUM_BODY, Application
from lease_scheduler.haizea.frontend.documents import Translation
from lease_scheduler.haizea.frontend.methods import Methods
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core.clock import RealClock

_GROUP = haizea.GROUP.name

#: Seconds to wait for an answer of the REST service, if the option timeout is not set.
_TIMEOUT = 120.0

#: Maximum number of open connections.
_CONNECTIONS = 200


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal ends the program."""
    given = sys.argv[1:] if arguments is None else arguments
    conf = configuration.load(given, program="lease-scheduler-haizea-front")
    log.setup(conf, configuration.PROJECT)
    group = conf[_GROUP]
    server = front_server(_methods(conf), group.host, group.port, group.threads, allow_remote=group.allow_remote)
    signals = EndingSignals()
    server.start()
    print(f"listening on {server.url}", flush=True)
    signals.wait()
    server.stop()


def front_server(methods: Methods, host: str, port: int, threads: int, *, allow_remote: bool = False) -> Server:
    """Return a server that listens but does not answer yet.

    :raises InvalidValueError: other machines can reach the address, which is not allowed; or it cannot be listened on
    """
    if not allow_remote and not is_loopback(host):
        raise InvalidValueError(
            "haizea.host",
            f"{host} can be reached from other machines, and callers are not authenticated; use 127.0.0.1 or ::1, or "
            "set haizea.allow_remote if only those can reach it who may",
        )
    settings = ServerSettings(host, port, threads, _CONNECTIONS, MAXIMUM_BODY)
    try:
        return Server(Application(methods.by_name()), settings)
    except OSError as error:
        raise InvalidValueError(
            "haizea.port", f"{host}, port {port} cannot be listened on: {error.strerror}"
        ) from error


def _methods(conf: cfg.ConfigOpts) -> Methods:
    """Return the XML-RPC methods, which use the front's own credentials.

    :raises InvalidValueError: there are no credentials, or they are incomplete
    """
    group = conf[_GROUP]
    if not group.auth_type and not group.auth_section:
        raise InvalidValueError("haizea.auth_type", "is needed: password and so on, or none for the embedded service")
    plugins = loading.get_available_plugin_names()
    if group.auth_type and group.auth_type not in plugins:
        raise InvalidValueError(
            "haizea.auth_type", f"there is no {group.auth_type}; take one of {', '.join(sorted(plugins))}"
        )
    if group.auth_type == "none" and not group.endpoint_override:
        raise InvalidValueError("haizea.endpoint_override", "is needed with auth_type = none: http://127.0.0.1:1234/v1")
    try:
        auth = loading.load_auth_from_conf_options(conf, _GROUP)
        session = loading.load_session_from_conf_options(conf, _GROUP, auth=auth)
    except ClientException as error:
        raise InvalidValueError("haizea.auth_type", str(error)) from error
    session.timeout = session.timeout or _TIMEOUT
    adapter = Adapter(
        session,
        service_type=SERVICE_TYPE,
        interface=group.interface,
        region_name=group.region_name,
        endpoint_override=group.endpoint_override,
        user_agent="lease-scheduler-haizea-front",
    )
    translation = Translation(group.cpu_units, group.preemption_mode, group.boot_images)
    return Methods(LeaseClient(adapter), RealClock().now, translation, group.all_projects)
