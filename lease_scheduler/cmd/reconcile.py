"""``lease-scheduler-manage reconcile``: compare the leases with the cloud, and repair differences."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg
from rich.console import Console
from rich.table import Table

from lease_scheduler.cmd.election import engine_leads
from lease_scheduler.cmd.operator import LOOK_LIMIT, OPERATOR
from lease_scheduler.cmd.own_engine import engine_at_rest, own_engine
from lease_scheduler.cmd.wiring import engine_client
from lease_scheduler.service.upkeep.reconcile import as_document

#: Exit status if differences remain, with --dry-run or because they cannot be repaired.
_DIFFERS = 1

#: Maximum real seconds for repairs if no other engine would continue them, and seconds between two checks.
_REPAIR_LIMIT = 300.0
_PAUSE = 1.0

Answer = Mapping[str, Any]


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reconcile",
        help="compare leases with the cloud now and repair differences",
        description="The exit status is 0 if nothing differs (any more), 1 if something does, 2 if this is unknown.",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what differs")
    parser.set_defaults(run=_run)


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    answer = _ask(conf, dry_run=options.dry_run)
    _tell(answer)
    left = [each for each in answer["differences"] if options.dry_run or not each["repairable"]]
    if left:
        raise SystemExit(_DIFFERS)


def _ask(conf: cfg.ConfigOpts, *, dry_run: bool) -> Answer:
    if engine_leads(conf):
        return engine_client(conf, LOOK_LIMIT).reconcile(OPERATOR, dry_run=dry_run)
    if dry_run:
        with engine_at_rest(conf) as engine:
            return as_document(engine.reconciler.reconcile(dry_run=True))
    with engine_at_rest(conf) as engine:
        found = as_document(engine.reconciler.reconcile(dry_run=True))
    with own_engine(conf) as methods:
        # The engine makes repairs when it begins to lead. Some take longer than that, so wait for them.
        end = time.monotonic() + _REPAIR_LIMIT
        while _repairable(methods["reconcile"](OPERATOR, dry_run=True)) and time.monotonic() < end:
            methods["reconcile"](OPERATOR)
            time.sleep(_PAUSE)
        left = methods["reconcile"](OPERATOR, dry_run=True)["differences"]
    names = {(each["kind"], each["name"]) for each in left}
    differences = [{**each, "repairable": (each["kind"], each["name"]) not in names} for each in found["differences"]]
    repaired = {"repaired": len(differences) - len(left)}
    return {"repaired": repaired, "differences": differences}


def _repairable(answer: Answer) -> list[Any]:
    """Return the differences that can be repaired, for which it makes sense to wait."""
    return [each for each in answer["differences"] if each["repairable"]]


def _tell(answer: Answer) -> None:
    differences = answer["differences"]
    if differences:
        table = Table("kind", "problem", "name", "lease", "detail", box=None, pad_edge=False)
        for each in differences:
            detail = each["detail"] if each["repairable"] else f"{each['detail']} (not repaired)".strip()
            table.add_row(each["kind"], each["problem"].replace("_", " "), each["name"], each["lease_id"], detail)
        # Names must not be cut if the output goes to a file.
        console = Console()
        Console(width=None if console.is_terminal else 1_000).print(table, soft_wrap=True)
    print(", ".join(f"{name}: {count}" for name, count in answer["repaired"].items()))
    if not differences:
        print("nothing differs")
