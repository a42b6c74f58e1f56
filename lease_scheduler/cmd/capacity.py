"""``lease-sim capacity``: report how many hosts a site can do without, or lacks, according to its recorded use."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.capacity import PROMISES, CapacityReport, Need, capacity_report
from lease_scheduler.simulation.capacity import plot_capacity, read_uses

_DESCRIPTION = """\
Reports for each promise, which is the share of the hours with use in which there is to be enough capacity: how many
hosts that takes, how many can go or are missing, how many to keep awake and free so that starts need not wait, and what
lifetime preemptible leases can be promised. Warns if the load grows, as these figures are then too low. Files are
tables of openstack lease usage --capacity --by hour -f csv, or traces of Eucalyptus clouds. What was refused is in
neither, so a site that was full may lack more.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "capacity", help="report how many hosts can go, or are missing, at which promise", description=_DESCRIPTION
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded use, plain or gzip; several are joined")
    parser.add_argument("--hosts", type=int, required=True, metavar="COUNT", help="how many hosts the site has")
    parser.add_argument("--cores", type=int, metavar="COUNT", help="cores of a host, for traces of instances")
    parser.add_argument(
        "--promise",
        type=float,
        action="append",
        metavar="SHARE",
        help="at most 0.9999; may be repeated",
    )
    parser.add_argument("--confidence", type=float, default=0.95, metavar="SHARE", help="of all bounds (0.95)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--plot", metavar="FILE", help="picture to write: .png or .svg")
    parser.set_defaults(func=capacity)


def capacity(given: argparse.Namespace) -> int:
    """Report the capacity by the files named on the command line."""
    for name in ("hosts", "cores"):
        value = getattr(given, name)
        if value is not None and value < 1:
            raise InvalidValueError(f"--{name}", f"must be at least 1, not {value}")
    uses = read_uses(given.files, given.hosts, given.cores)
    report = capacity_report(uses, given.hosts, given.promise or PROMISES, given.confidence)
    if given.plot is not None:
        plot_capacity(report, given.plot)
    if given.json:
        trend = None if report.trend is None else asdict(report.trend)
        print(json.dumps({**report.document(), "trend": trend}, indent=2))
    else:
        _print(report)
    return 0


def _print(report: CapacityReport) -> None:
    out = Console(highlight=False, soft_wrap=True)
    out.print(
        f"{report.hosts} hosts, {report.days} days with use, {len(report.peaks)} hours; {report.mean:.1f} hosts in use "
        f"on the average, at most {report.highest:.1f}; full in {report.full:.1%} of these hours"
    )
    table = Table(box=box.ASCII)
    for heading in ("promise", "hosts needed", "can go", "missing", "awake and free", "lifetime"):
        table.add_column(heading, justify="right")
    for need in report.needs:
        table.add_row(f"{need.promise:.6g}", *_cells(report, need))
    out.print(table)
    for need in report.needs:
        if need.hosts is None:
            out.print(
                f"The history is too short for {need.promise:.6g}: that takes {need.least_days} days with use, and "
                f"this one has {report.days}."
            )
    if report.trend is not None and report.trend.grows:
        out.print(
            f"The load grows: the highest demand of a day was {report.trend.older:.1f} hosts (median) in the older "
            f"half of the days with use, and {report.trend.newer:.1f} in the newer one. The table is of the past as a "
            "whole, so more hosts will be needed."
        )
    if report.full:
        out.print("The site was full at times. What was refused then is not recorded, so more hosts may be missing.")


def _cells(report: CapacityReport, need: Need) -> list[str]:
    lifetime = in_words(need.lifetime) if need.lifetime else "none"
    spare = "?" if need.spare is None else str(need.spare)
    if need.hosts is None:
        return ["?", "?", "?", spare, lifetime]
    rest = report.hosts - need.hosts
    return [str(need.hosts), str(max(0, rest)), str(max(0, -rest)), spare, lifetime]
