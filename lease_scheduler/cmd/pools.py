"""``lease-scheduler-manage pool``: commands for pools of hosts."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from oslo_config import cfg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.election import no_engine
from lease_scheduler.cmd.wiring import clock, database
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore


def add_to(commands: Any) -> None:
    """Add the commands to those of the group ``pool``."""
    listing = commands.add_parser("list", help="list the pools with their numbers of hosts and of live leases")
    listing.set_defaults(run=_list)
    dissolve = commands.add_parser(
        "dissolve", help="give everything of one pool to another one, while no engine runs; also to rename a pool"
    )
    dissolve.add_argument("name", metavar="NAME", help="the pool that loses its hosts, addresses and live leases")
    dissolve.add_argument(
        "--into", metavar="OTHER", help="the pool that gets them, from [pools] names (default: the first one)"
    )
    dissolve.set_defaults(run=_dissolve)


def _list(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    reader = SqlReader(database(conf), conf.service.site)
    hosts = Counter(host["pool"] for host in reader.hosts())
    leases = Counter(lease["pool"] for lease in reader.leases({"live": True}))
    known: list[str | None] = list(conf.pools.names)
    others = sorted({*hosts, *leases} - {*known, None}, key=str)
    table = Table("pool", "hosts", "live leases")
    for pool in [*known, *others, *([None] if not known or None in {*hosts, *leases} else [])]:
        name = "(without a name)" if pool is None else pool
        note = " (not in [pools] names)" if pool in others else ""
        table.add_row(escape(name + note), str(hosts[pool]), str(leases[pool]))
    Console().print(table)


def _dissolve(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    names: list[str] = conf.pools.names
    into = options.into if options.into is not None else next(iter(names), None)
    if options.into is not None and into not in names:
        raise InvalidValueError("--into", f"{into} is not in [pools] names; add it there first")
    if into == options.name:
        raise InvalidValueError("--into", f"name another pool than {into}")
    found = database(conf)
    with no_engine(conf):
        store = SqlStore(found, conf.service.site)
        store.take_over(engine_name(), clock(conf, found).now())
        units, leases = store.transfer(options.name, into)
    where = "have no pool now" if into is None else f"are in pool {into} now"
    print(f"{units} hosts and addresses and {leases} leases of pool {options.name} {where}")
