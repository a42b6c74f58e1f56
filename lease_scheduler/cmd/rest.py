"""The configured REST service."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from oslo_middleware.healthcheck import Healthcheck
from oslo_middleware.http_proxy_to_wsgi import HTTPProxyToWSGI
from oslo_policy import policy
from prometheus_client import CollectorRegistry, make_wsgi_app
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from lease_scheduler.api.app import build_app
from lease_scheduler.api.guard import LocalOnly
from lease_scheduler.api.health import Health, HealthPage
from lease_scheduler.api.keystone_names import KeystoneNames
from lease_scheduler.api.metrics import RequestMetrics
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.server import Server, ServerSettings
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.api.trusts import KeystoneTrusts
from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.memory import keep_what_is_loaded
from lease_scheduler.cmd.options.pools import pool_rules
from lease_scheduler.cmd.options.subscriptions import enabled_drivers
from lease_scheduler.cmd.page import frame_ancestors
from lease_scheduler.conf.values import watts
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.trust_marks import TrustMark
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.service.gateway.requests import GatewayRequests
from lease_scheduler.service.gateway.sites import GatewaySites
from lease_scheduler.store.sql.reader import SqlReader

Application = Callable[..., Any]

#: Seconds that the engine has to answer a health check.
_PING_SECONDS = 5.0

#: Maximum number of open connections, which include the calendar pages of many people.
_CONNECTIONS = 2_000

#: Maximum seconds to wait for a name from Keystone. Meanwhile, people see ids on the page.
_NAMES_TIMEOUT = 5.0


def application(
    conf: cfg.ConfigOpts,
    engine: RpcEngineClient | GatewayRequests,
    reader: SqlReader,
    clock: WaitingClock,
    registry: CollectorRegistry | None = None,
    *,
    shows_metrics: bool = False,
    settings: ApiSettings | None = None,
    threads: int | None = None,
    routes: tuple[Route, ...] = ROUTES,
    acts_for_projects: bool = True,
    sites: GatewaySites | None = None,
) -> Application:
    """Return the WSGI application with everything in front of it: health check, token check and proxy headers.

    :param registry: registry in which requests are counted; None to count none
    :param shows_metrics: whether any caller can read the registry at ``/metrics``
    :param settings: result of ``api_settings``, or a proxy of it if the settings may change; None to call it here
    :param threads: number of requests that the process serves at the same time; None for [api] threads
    :param routes: what is served
    :param acts_for_projects: whether the service does something in the names of projects, and so gets trusts from them
    :param sites: the sites behind a gateway; None if the service is none
    :raises InvalidValueError: an option is wrong
    """
    settings = api_settings(conf) if settings is None else settings
    trustee = configured_cloud(conf).trustee() if settings.auth == "keystone" and acts_for_projects else None
    trusts, names = None, None
    if trustee is not None:
        mark = TrustMark(conf.service.site, trustee.region_name)
        trusts = KeystoneTrusts(trustee, lambda: mark.uses(clock.now()), reader.known_trusts)
    login = None
    if settings.auth == "keystone":
        from lease_scheduler.cmd.identity import identity_service, with_tokens
        from lease_scheduler.cmd.login import configured_login

        if acts_for_projects:
            names = KeystoneNames(identity_service(conf) if trustee is None else trustee, _NAMES_TIMEOUT)
        login = configured_login(conf, threads or conf.api.threads)
    app: Application = build_app(
        settings,
        engine,
        reader,
        clock,
        policy.Enforcer(conf),
        trusts,
        login,
        frame_ancestors(conf),
        names,
        routes,
        sites,
    )
    if settings.auth == "keystone":
        # The calendar page and the version documents need no token; the application refuses everything else.
        app = with_tokens(app, conf)
    checks = {"engine": lambda: engine.problem(_PING_SECONDS), "database": reader.problem}
    health = HealthPage(Health(checks), Healthcheck(None, conf))
    others: dict[str, Application] = {"/healthcheck": health}
    if registry is not None:
        app = RequestMetrics(registry).measured(app)
        if shows_metrics:
            others["/metrics"] = make_wsgi_app(registry)
    complete: Application = HTTPProxyToWSGI(DispatcherMiddleware(app, others), conf)
    # Must precede the part that trusts proxy headers, which a web page can forge.
    return LocalOnly(complete, conf.api.allowed_hosts) if settings.auth == "noauth" else complete


def api_settings(conf: cfg.ConfigOpts) -> ApiSettings:
    """Return the present settings of the API."""
    group = conf.api
    return ApiSettings(
        auth=group.auth_strategy,
        peer_role=group.peer_role or None,
        site=conf.service.site,
        most_passes=group.most_passes,
        speed=group.speed,
        privacy=group.privacy,
        maximum_body=group.maximum_body,
        maximum_page=group.maximum_limit,
        maximum_occurrences=group.maximum_occurrences,
        series_days=group.series_days,
        notification_drivers=enabled_drivers(conf),
        pools=pool_rules(conf),
        feeds=conf.service.max_feeds > 0,
        retry_after=group.retry_after,
        watts=watts(conf),
    )


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server(conf: cfg.ConfigOpts, app: Application) -> Server:
    """Return a server that listens but does not serve yet.

    :raises InvalidValueError: the address cannot be listened on
    """
    host, port = conf.api.host, conf.api.port
    try:
        settings = ServerSettings(
            host,
            port,
            conf.api.threads,
            _CONNECTIONS,
            conf.api.maximum_body,
            behind_proxy=conf.oslo_middleware.enable_proxy_headers_parsing,
        )
        made = Server(app, settings)
    except OSError as error:
        raise InvalidValueError("api.port", f"{host}, port {port} cannot be listened on: {error.strerror}") from error
    keep_what_is_loaded()
    return made
