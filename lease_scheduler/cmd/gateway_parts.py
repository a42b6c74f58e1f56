"""Assembly of the configured parts of a gateway."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import openstack
from openstack.exceptions import ConfigException
from oslo_config import cfg

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.cmd.wiring import database
from lease_scheduler.conf.gateway import NAME, PREFIX
from lease_scheduler.conf.values import policy_options
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.federation.members import Member
from lease_scheduler.federation.negotiation.record import Mode, Rules
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.service.core.clock import RealClock
from lease_scheduler.service.gateway.calling import Members, Threads
from lease_scheduler.service.gateway.driver import Driver
from lease_scheduler.service.gateway.interfaces import GatewaySettings
from lease_scheduler.service.gateway.projects import Projects, ProjectsMode
from lease_scheduler.service.gateway.requests import GatewayRequests
from lease_scheduler.service.gateway.routing import Router
from lease_scheduler.service.gateway.sites import GatewaySites
from lease_scheduler.service.gateway.workers import workers_of
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.store.sql.gateway import SqlGateway
from lease_scheduler.store.sql.reader import SqlReader

#: Leases that are driven at the same time without a request.
_DRIVEN = 8


@dataclass(frozen=True)
class Gateway:
    """The parts of a gateway.

    :ivar reader: reads the leases that it shows
    :ivar workers: what it does without a request
    """

    clock: WaitingClock
    store: SqlGateway
    reader: SqlReader
    members: Members
    driver: Driver
    requests: GatewayRequests
    sites: GatewaySites
    workers: tuple[UpkeepWorker, ...]


def gateway(conf: cfg.ConfigOpts, name: str) -> Gateway:
    """Return the configured gateway.

    :param name: name of this process, which no other gateway has
    :raises InvalidValueError: an option is wrong
    :raises StoreUnavailableError: the database does not answer
    """
    settings = gateway_settings(conf)
    clock, found = RealClock(), database(conf, conf.api.threads)
    members = Members(configured_members(conf), clock.now, Threads(conf.gateway.calls, "call"))
    router = configured_router(conf, members)
    store = SqlGateway(found, conf.service.site)
    store.join(clock.now())
    driver = Driver(store, members, router, clock, settings, name)
    requests = GatewayRequests(store, members, driver, router, clock, settings)
    workers = workers_of(store, members, driver, clock, settings, name, lambda: Threads(_DRIVEN, "drive"))
    reader, sites = SqlReader(found, conf.service.site), GatewaySites(members, store)
    return Gateway(clock, store, reader, members, driver, requests, sites, workers)


def gateway_settings(conf: cfg.ConfigOpts) -> GatewaySettings:
    """Return the settings of the gateway.

    :raises InvalidValueError: options contradict each other
    """
    group = conf.gateway
    try:
        rules = Rules(group.name, conf.api.most_passes, group.hold_time, group.accept_time, group.clock_difference)
    except InvalidValueError as error:
        raise InvalidValueError(f"gateway.{error.field}", error.problem) from error
    if group.answer_time <= group.accept_time:
        raise InvalidValueError(
            "gateway.answer_time", f"must be more than accept_time, {group.accept_time}, so that sites can be asked"
        )
    projects = configured_projects(conf)
    return GatewaySettings(rules, Mode(group.mode), group.answer_time, poll=group.poll, projects=projects)


def configured_projects(conf: cfg.ConfigOpts) -> Projects:
    """Return the projects at members to which leases belong.

    :raises InvalidValueError: options contradict each other
    """
    mode = ProjectsMode(conf.gateway.projects)
    tables = {name: dict(conf[PREFIX + name].projects) for name in conf.gateway.members}
    tables = {name: table for name, table in tables.items() if table}
    if mode is not ProjectsMode.GATEWAY and conf.api.auth_strategy == "noauth":
        raise InvalidValueError(
            "gateway.projects", f"must be gateway, not {mode}, as callers are not authenticated ([api] auth_strategy)"
        )
    if mode is not ProjectsMode.MAPPED and tables:
        raise InvalidValueError(
            f"{PREFIX}{next(iter(tables))}.projects", "needs [gateway] projects = mapped; set that, or leave it out"
        )
    if mode is ProjectsMode.MAPPED and not tables:
        first = next(iter(conf.gateway.members), "<site>")
        raise InvalidValueError(
            "gateway.projects", f"mapped needs the table of at least one site, such as [{PREFIX}{first}] projects"
        )
    return Projects(mode, tables)


def configured_router(conf: cfg.ConfigOpts, members: Members) -> Router:
    """Return the router with the configured policies.

    :raises InvalidValueError: there is no such policy, or no such site
    """
    home = conf.gateway.home
    if home is not None and home not in members.names:
        raise InvalidValueError("gateway.home", f"there is no site {home!r} in members: {', '.join(members.names)}")
    names = {"allocation": conf.gateway.allocation, "dispatch": conf.gateway.dispatch}
    options = policy_options(conf) | {"overflow_wait": str(conf.gateway.overflow_wait)}
    policies = load_routing_policies(names, PolicyOptions(options))
    return Router(members, policies, random.SystemRandom().random, home)


def configured_members(conf: cfg.ConfigOpts) -> Sequence[Member]:
    """Return the configured members. No connection is made.

    :raises InvalidValueError: there are none, or one has no entry in clouds.yaml
    """
    named = conf.gateway.members
    if not named:
        raise InvalidValueError("gateway.members", "names no site; give at least one, such as north:compute-north")
    return [_member(name, cloud) for name, cloud in named.items()]


def _member(name: str, cloud: str) -> Member:
    if re.fullmatch(NAME, name) is None:
        raise InvalidValueError("gateway.members", f"{name!r} is no name of a site; right is a name such as north")
    try:
        return RestMember(name, openstack.connect(cloud=cloud))
    except ConfigException as error:
        raise InvalidValueError("gateway.members", f"{name}: {error}") from error
