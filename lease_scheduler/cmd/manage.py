"""``lease-scheduler-manage``: the commands of operators."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from rich.console import Console
from rich.progress import track

from lease_scheduler.cmd import (
    agent_list,
    blazar_import,
    calibrate,
    configuration,
    gateway_reconcile,
    pools,
    reconcile,
    register,
    uninstall,
)
from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.election import engine_leads
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.operator import OPERATOR
from lease_scheduler.cmd.optional import needs_extra
from lease_scheduler.cmd.rehearsing.options import rehearse_options
from lease_scheduler.cmd.wiring import clock, database, engine_client
from lease_scheduler.model.errors import EngineUnavailableError, InvalidValueError, RefusedError
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.service.core.clock import RealClock
from lease_scheduler.store.sql import migrate, purge

_DAY = 86_400

#: Transport URL of oslo.messaging if the configuration sets none.
_NO_BROKER = "rabbit://"

#: Maximum number of hosts that one request adds to the pool.
_PART = 500


class _Collect(argparse.Action):
    """Action that collects options with their values, in order, for oslo.config."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), (option_string, values)))


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command."""
    parser = _parser()
    options, rest = parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    named = [word for flag, values in options.configuration for word in (flag, *values)]
    conf = configuration.load([*named, *rest], program="lease-scheduler-manage")
    options.run(conf, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lease-scheduler-manage", description="Also accepts the options of oslo.config, such as --config-file."
    )
    # Without these options, the parser would mistake their values for the command.
    for flag in ("--config-file", "--config-dir"):
        parser.add_argument(
            flag, nargs=1, metavar="PATH", action=_Collect, dest="configuration", default=(), help="as in oslo.config"
        )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    groups = {
        "agent": "agents on compute hosts",
        "db": "the database",
        "gateway": "a gateway to several sites",
        "host": "compute hosts of the site",
        "pool": "the hosts of the site as a whole, and its pools",
    }
    of = {name: commands.add_parser(name, help=text).add_subparsers(required=True) for name, text in groups.items()}
    sync = of["db"].add_parser("sync", help="create the tables, or bring them up to date")
    sync.set_defaults(run=_db_sync)
    of["db"].add_parser("version", help="print the revision of the tables").set_defaults(run=_db_version)
    old = of["db"].add_parser("purge", help="remove leases that ended long ago")
    old.add_argument(
        "--older-than", type=int, metavar="DAYS", required=True, help="remove leases that ended more than DAYS days ago"
    )
    old.add_argument("--dry-run", action="store_true", help="only print how many there are")
    old.set_defaults(run=_db_purge)
    add = of["host"].add_parser("add", help="add compute hosts to the pool")
    add.add_argument("names", nargs="+", metavar="NAME")
    _add_pool(add)
    add.set_defaults(run=_host_add)
    move = of["host"].add_parser("move", help="move compute hosts that no lease holds to another pool")
    move.add_argument("names", nargs="+", metavar="NAME")
    move.add_argument("--pool", metavar="POOL", required=True, help="the pool that gets them")
    move.set_defaults(run=_host_move)
    remove = of["host"].add_parser("remove", help="remove compute hosts from the pool")
    remove.add_argument("names", nargs="+", metavar="NAME")
    remove.set_defaults(run=_host_remove)
    whole = of["pool"].add_parser("fill", help="add every compute host of the cloud to the pool")
    _add_pool(whole)
    whole.set_defaults(run=_pool_fill)
    pools.add_to(of["pool"])
    agent_list.add_to(of["agent"])
    gateway_reconcile.add_to(of["gateway"])
    reconcile.add_to(commands)
    uninstall.add_to(commands)
    blazar_import.add_to(commands)
    calibrate.add_to(commands)
    _add_rehearse(commands)
    register.add_to(commands)
    return parser


def _add_rehearse(commands: Any) -> None:
    """Add the command ``rehearse``, whose arguments are read even if its extra is not installed."""
    command = commands.add_parser(
        "rehearse", help="run the whole service in a simulated world, and print the digest of its history"
    )
    rehearse_options(command)
    command.set_defaults(run=_rehearse)


def _rehearse(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    with needs_extra("rehearsal"):
        from lease_scheduler.cmd.rehearsing.command import rehearse
    rehearse(options)


def _add_pool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pool", metavar="POOL", help="their pool (default: that whose [pool:<name>] hosts match their names)"
    )


def _db_sync(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    found = database(conf)
    migrate.upgrade(found)
    print(f"the tables are at revision {migrate.current(found)}")


def _db_version(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    print(migrate.current(database(conf)) or "there are no tables yet; run: lease-scheduler-manage db sync")


def _db_purge(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    if options.older_than < 0:
        raise InvalidValueError("--older-than", "must be at least 0")
    found = database(conf)
    before = clock(conf, found).now() - options.older_than * _DAY
    if options.dry_run:
        print(f"{purge.count(found, before)} leases would be forgotten")
        return
    print(f"{purge.purge(found, before)} leases were forgotten")


def _host_add(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    _add(conf, options.names, options.pool)


def _pool_fill(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    if not conf.database.connection:
        raise InvalidValueError(
            "database.connection",
            "is needed: name the configuration of the service with --config-file; the embedded service has none, and "
            "fills its pool itself with lease-scheduler-embedded --fill-pool",
        )
    known = {host["name"] for host in _hosts(conf)}
    found = configured_cloud(conf).driver(RealClock()).hypervisors()
    _add(conf, [host.name for host in found if host.name not in known], options.pool)


def _hosts(conf: cfg.ConfigOpts) -> list[dict[str, Any]]:
    from lease_scheduler.store.sql.reader import SqlReader

    return SqlReader(database(conf), conf.service.site).hosts()


def _add(conf: cfg.ConfigOpts, names: Sequence[str], pool: str | None) -> None:
    engine = _engine(conf)
    console = Console(stderr=True)
    parts = [names[first : first + _PART] for first in range(0, len(names), _PART)]
    for part in track(parts, "hosts", console=console, disable=not console.is_terminal):
        try:
            engine.create_hosts(OPERATOR, list(part), **({} if pool is None else {"pool": pool}))
        except RefusedError as error:
            raise InvalidValueError("host", error.message) from error
    print(f"{len(names)} hosts were added to the pool")


def _engine(conf: cfg.ConfigOpts) -> RpcEngineClient:
    """Return a client of the engine that leads.

    :raises EngineUnavailableError: no engine leads, or only an embedded one; raised without waiting for a timeout
    """
    if not engine_leads(conf):
        raise EngineUnavailableError(
            f"no engine leads site {conf.service.site}; start lease-scheduler-engine, whose log says why it does not"
        )
    client = engine_client(conf)
    if conf.database.connection.startswith("sqlite") and conf.transport_url == _NO_BROKER:
        raise EngineUnavailableError(
            "an embedded engine takes no commands from other processes; add hosts with openstack reservation host "
            "create, or start it with lease-scheduler-embedded --fill-pool"
        )
    return client


def _host_move(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    ids = _ids(conf, options.names)
    engine = _engine(conf)
    for name in options.names:
        try:
            engine.update_host(OPERATOR, ids[name], {}, pool=options.pool)
        except RefusedError as error:
            raise InvalidValueError(name, error.message) from error
    print(f"{len(options.names)} hosts are in pool {options.pool} now")


def _ids(conf: cfg.ConfigOpts, names: Sequence[str]) -> dict[str, str]:
    """Return the ids of hosts by name.

    :raises InvalidValueError: there is no such host
    """
    ids = {host["name"]: str(host["id"]) for host in _hosts(conf)}
    for name in names:
        if name not in ids:
            raise InvalidValueError(name, "there is no such host in the pool")
    return ids


def _host_remove(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    ids = _ids(conf, options.names)
    engine = _engine(conf)
    for name in options.names:
        try:
            engine.delete_host(OPERATOR, ids[name])
        except RefusedError as error:
            raise InvalidValueError(name, error.message) from error
    print(f"{len(options.names)} hosts were removed from the pool")
