"""``lease-scheduler-manage gateway reconcile``: compare the records of a gateway with what its members say."""

from __future__ import annotations

import argparse
from typing import Any

from oslo_config import cfg
from rich.console import Console
from rich.table import Table

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.gateway_parts import gateway
from lease_scheduler.service.gateway.reconcile import Difference, Problem, reconcile

#: Exit status if differences remain, and if a member could not be compared.
_DIFFERS, _IS_UNKNOWN = 1, 2


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reconcile",
        help="compare the leases of a gateway with those of its sites, and mend differences",
        description="The exit status is 0 if nothing differs (any more), 1 if something does, 2 if this is unknown.",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what differs")
    parser.set_defaults(run=_run)


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    parts = gateway(conf, f"{engine_name()}.reconcile")
    try:
        found = reconcile(parts.store, parts.members, parts.driver, dry_run=options.dry_run)
    finally:
        parts.members.end()
    _tell(found)
    if any(each.problem is Problem.NOT_COMPARED for each in found):
        raise SystemExit(_IS_UNKNOWN)
    if not all(each.is_mended for each in found):
        raise SystemExit(_DIFFERS)


def _tell(found: list[Difference]) -> None:
    if not found:
        print("nothing differs")
        return
    table = Table("problem", "site", "lease", "lease there", "mended", box=None, pad_edge=False)
    for each in found:
        mended = "" if each.problem is Problem.NOT_COMPARED else "yes" if each.is_mended else "no"
        table.add_row(each.problem, each.member, each.lease_id, each.site_lease_id, mended)
    # Names must not be cut if the output goes to a file.
    console = Console()
    Console(width=None if console.is_terminal else 1_000).print(table, soft_wrap=True)
