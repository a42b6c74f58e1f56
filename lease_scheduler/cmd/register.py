"""``lease-scheduler-manage register``: check whether a simulation of the site repeats what the site did."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from oslo_config import cfg
from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.cmd.options.service import live_engine_options
from lease_scheduler.cmd.options.simulation import run_settings
from lease_scheduler.cmd.planning import planning_of_site
from lease_scheduler.cmd.wiring import clock, database
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.registration import BOUND, Registration, register
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.run_record import read_run

#: Exit status if site and simulation differ.
_DIFFERS = 1

_DESCRIPTION = f"""\
Replays the leases that were submitted from one instant to another on simulations with the policies and options of this
configuration. The times of operations are drawn from those that the service has recorded. Prints the utilisation of
each host as it was and as it is simulated. The exit status is 0 if none differs by more than {BOUND}, 1 if one does,
and 2 if the record cannot be replayed.
"""


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "register", help="compare what the site did with a simulation of it", description=_DESCRIPTION
    )
    parser.add_argument(
        "--start", required=True, metavar="DATE", help="when no lease held anything, such as 2026-11-25T13:00:00Z"
    )
    parser.add_argument("--end", metavar="DATE", help="until when; the default is now")
    parser.add_argument("--runs", type=int, default=12, metavar="COUNT", help="number of simulations (12)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.set_defaults(run=_run)


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    if conf.pools.names:
        raise InvalidValueError("pools.names", "a site with several pools cannot be simulated as a whole yet")
    if options.runs < 1:
        raise InvalidValueError("--runs", f"must be at least 1, not {options.runs}")
    found = database(conf)
    if migrate.current(found) != migrate.newest():
        raise InvalidValueError(
            "database.connection", "has tables of another version; see lease-scheduler-manage db sync"
        )
    now = clock(conf, found).now()
    start = _instant("--start", options.start)
    end = now if options.end is None else _instant("--end", options.end)
    if not start < end <= now:
        raise InvalidValueError("--start", "must be before --end, which must not be in the future")
    result = register(read_run(found, start, end), _settings(conf), options.runs)
    if options.json:
        print(json.dumps(result.document(), indent=2))
    else:
        _print(result, options.runs)
    if not result.agrees:
        raise SystemExit(_DIFFERS)


def _settings(conf: cfg.ConfigOpts) -> RunSettings:
    """Return the settings of a simulation that plans as the service does."""
    engine = live_engine_options(conf)
    # Simulated hosts report no power states, and are always in time.
    engine = replace(engine, power=replace(engine.power, confirms=False))
    return replace(run_settings(conf), planning=planning_of_site(conf), engine=engine)


def _instant(option: str, text: str) -> int:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValueError(option, f"must be a date such as 2026-11-25T13:00:00Z, not {text[:40]!r}") from None
    return int((instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp())


def _print(result: Registration, runs: int) -> None:
    out = Console(highlight=False, soft_wrap=True)
    times = ", ".join(f"{count} of {kind}" for kind, count in result.measured.items() if count)
    out.print(f"{result.leases} leases, {runs} simulations; measured times: {times or 'none'}")
    if result.withdrawn:
        out.print(f"{result.withdrawn} leases ended before they had begun to run, and are left out.")
    table = Table(box=box.ASCII)
    table.add_column("host")
    for heading in (f"{result.resource_class} recorded", "simulated", "sd", "difference"):
        table.add_column(heading, justify="right")
    for each in result.hosts:
        figures = (each.recorded, each.mean, each.spread, each.difference)
        table.add_row(each.host, *(f"{figure:.4f}" for figure in figures))
    out.print(table)
    verdict = "the simulation does what the site did" if result.agrees else "they differ"
    out.print(f"largest difference {result.largest:.4f}, at most {BOUND}: {verdict}")
