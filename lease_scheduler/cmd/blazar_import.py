"""``lease-scheduler-manage import-blazar``: take over the leases of a Blazar service."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from oslo_config import cfg

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.election import no_engine
from lease_scheduler.cmd.wiring import clock, database
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.requests.blazar_import.findings import Finding
from lease_scheduler.service.requests.blazar_import.takeover import ImportOptions, Takeover, take_over
from lease_scheduler.store.blazar.reader import read
from lease_scheduler.store.sql.store import SqlStore

_CONNECTION, _LEAVE_OUT = "--connection", "--leave-out"


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "import-blazar", help="take over hosts, floating IPs and leases from a Blazar database"
    )
    parser.add_argument(
        _CONNECTION,
        required=True,
        metavar="URL",
        help="Blazar's database, e.g. mysql+pymysql://user:password@host/blazar",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would be taken over")
    parser.add_argument("--history", action="store_true", help="also take over leases that have ended")
    parser.add_argument(
        _LEAVE_OUT, action="append", default=[], metavar="LEASE", help="id of a lease not to take over; may be repeated"
    )
    parser.set_defaults(run=_run)


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    contents = read(options.connection, _CONNECTION)
    ours = database(conf)
    now = clock(conf, ours).now()
    with no_engine(conf):
        store = SqlStore(ours, conf.service.site)
        # An engine that starts despite the lock takes over from us; then the store refuses our writes.
        store.take_over(engine_name(), now)
        here = store.load()
        wanted = ImportOptions(options.history, frozenset(options.leave_out))
        found = take_over(contents, here, store.units, store.has_lease, now, wanted)
        _tell(found)
        if found.refused:
            problem = f"nothing was written, because {len(found.refused)} promises (above) could not be kept"
            raise InvalidValueError(_LEAVE_OUT, f"{problem}; mend them, or name the leases that may be broken")
        if options.dry_run:
            print("nothing was written")
        elif not found.changes.is_empty():
            store.commit(found.changes)


def _tell(found: Takeover) -> None:
    changes = found.changes
    running, over = found.leases_in(LeaseState.ACTIVE), found.leases_in(LeaseState.DONE)
    print(f"hosts: {len(changes.hosts)} new, {found.known_hosts} here already")
    print(f"floating IPs: {len(changes.floating_ips)} new, {found.known_floating_ips} here already")
    print(f"leases: {len(changes.leases)} new ({running} running, {over} over), {found.known_leases} here already")
    _tell_of("left out", found.left_out)
    _tell_of("taken over with a difference", found.differences)
    _tell_of("cannot be taken over", found.refused)


def _tell_of(title: str, findings: Iterable[Finding]) -> None:
    for finding in findings:
        print(f"{title}: {finding}")
