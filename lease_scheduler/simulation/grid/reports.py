"""Results of a Grid: tables for terminals, and files for scripts and spreadsheets."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.federation.negotiation.record import Stage
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.formats.files import replace_file
from lease_scheduler.simulation.grid.grid import GridResult, Outcome
from lease_scheduler.simulation.reports.tables import csv_text, write_results
from lease_scheduler.simulation.result import RunResult

REQUESTS_COLUMNS = (
    "lease_id",
    "gateway",
    "kind",
    "nodes",
    "requested_duration",
    "arrival",
    "decided",
    "stage",
    "asked",
    "site",
    "site_lease_id",
    "state",
    "start",
    "end",
    "reason",
)

#: Figures of a site and of a gateway: key -> heading of its column.
_SITE = {
    "leases": "leases",
    "external": "from gateways",
    "rejected": "rejected",
    "preempted_leases": "preempted leases",
    "preempted_nodes": "preempted nodes",
    "utilisation": "used",
}
_GATEWAY = {
    "requests": "requests",
    "granted": "granted",
    "refused": "refused",
    "passed_on_again": "passed on again",
    "mean_decision_s": "decided after (s)",
    "mean_response_s": "done after (s)",
}


def summary(result: GridResult) -> dict[str, Any]:
    """Return the figures of sites and gateways, as JSON values; None means that there was nothing to measure."""
    gateways = dict.fromkeys(outcome.gateway for outcome in result.outcomes)
    return {
        "sites": {name: _of_site(site) for name, site in result.sites.items()},
        "gateways": {
            name: _of_gateway([outcome for outcome in result.outcomes if outcome.gateway == name]) for name in gateways
        },
        "simulated_s": max(site.end for site in result.sites.values()),
        "wall_s": next(iter(result.sites.values())).wall_s,
    }


def _of_site(site: RunResult) -> dict[str, Any]:
    counts = metrics.count_leases(site.leases)
    return {
        "hosts": len(site.site),
        "leases": len(site.leases),
        "external": sum(lease.request.origin is not None for lease in site.leases),
        "rejected": counts.rejected,
        "preempted_leases": site.counters.get("preempted_leases", 0),
        "preempted_nodes": site.counters.get("preempted_nodes", 0),
        "utilisation": round(metrics.average_utilisation(site), 6),
    }


def _of_gateway(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    decided = [each.decided - each.request.submitted for each in outcomes if each.decided is not None]
    ended = [
        each.lease.ended - each.request.submitted
        for each in outcomes
        if each.lease is not None and each.lease.ended is not None
    ]
    return {
        "requests": len(outcomes),
        "granted": sum(each.lease is not None for each in outcomes),
        "refused": sum(each.stage is Stage.REFUSED for each in outcomes),
        "passed_on_again": sum(len(each.asked) > 1 for each in outcomes),
        "mean_decision_s": round(fmean(decided), 3) if decided else None,
        "mean_response_s": round(fmean(ended), 3) if ended else None,
        "sites": dict(sorted(Counter(each.site for each in outcomes if each.site is not None).items())),
    }


def print_summary(result: GridResult, console: Console) -> None:
    """Print a table of the sites and one of the gateways."""
    found = summary(result)
    for title, parts, columns in (("site", found["sites"], _SITE), ("gateway", found["gateways"], _GATEWAY)):
        if not parts:
            continue
        table = Table(box=box.ROUNDED if console.is_terminal else box.ASCII, header_style="bold")
        table.add_column(title)
        for heading in columns.values():
            table.add_column(heading, justify="right")
        for name, figures in parts.items():
            table.add_row(name, *(_cell(key, figures[key]) for key in columns))
        console.print(table)


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key == "utilisation":
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def requests_csv(result: GridResult) -> str:
    """Return CSV with one line per request at a gateway. Instants are in s; a cell without a value is empty."""
    return csv_text(
        REQUESTS_COLUMNS,
        (
            (
                each.request.lease_id,
                each.gateway,
                each.request.kind.value,
                each.request.node_count,
                each.request.duration,
                each.request.submitted,
                each.decided,
                each.stage.value,
                " ".join(each.asked),
                each.site,
                None if each.lease is None else each.lease.lease_id,
                None if each.lease is None else each.lease.state.value,
                None if each.lease is None else each.lease.started,
                None if each.lease is None else each.lease.ended,
                each.reason,
            )
            for each in result.outcomes
        ),
    )


def write_files(result: GridResult, directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a folder for each site, as ``reports.tables.write_results`` does, ``requests.csv`` and ``summary.json``.

    :return: the files, ``summary.json`` last
    :raises InputFileError: the directory or a file cannot be written
    """
    target = Path(directory)
    written = [path for name, site in result.sites.items() for path in write_results(site, target / name)]
    texts = {
        "requests.csv": requests_csv(result),
        "summary.json": json.dumps(summary(result), indent=2) + "\n",
    }
    for name, text in texts.items():
        replace_file(target / name, text.encode())
        written.append(target / name)
    return tuple(written)
