"""Chapter 6: slivers, and the hosts of broker and provider (Grit 2007, sections 6.2 to 6.4; shirako E14-E19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.papers.shirako.bands import check, falls, mean
from lease_scheduler.papers.shirako.sliver_resize import HOST, INTERVAL, SliverCase
from lease_scheduler.papers.shirako.two_placements import BROKERS, PROVIDERS, TwoPlacementsCase
from lease_scheduler.plan.changing.moves import Placement, to_grow
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.generators.daily_load import STEPS_PER_HOUR
from lease_scheduler.simulation.reports.over_time import plot_over_time

#: Lengths of leases in hours; figure 6.1 has that of four.
_HOURS = (2, 4, 8, 16)
_SHOWN_HOURS = 4

_Pairs = Mapping[tuple[str, str], Sequence[Outcome]]

#: By migrations, from none to most (figure 6.6).
_ORDER = (
    ("in-place", "follow-broker"),
    ("migrating", "follow-broker"),
    ("in-place", "energy-aware"),
    ("migrating", "energy-aware"),
)


SEEDS = DefaultSeeds(10)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    slivers = [SliverCase(resource, hours, seed) for resource in HOST for hours in _HOURS]
    pairs = [TwoPlacementsCase(broker, provider, seed) for broker in BROKERS for provider in PROVIDERS]
    return [*slivers, *pairs]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    _plot(_pairs(outcomes, replications[0].seed), directory)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _pairs(outcomes: Mapping[str, Outcome], seed: int) -> _Pairs:
    return {pair: [outcomes[TwoPlacementsCase(*pair, seed).name]] for pair in _ORDER}


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    slivers = {
        (resource, hours): [outcomes[SliverCase(resource, hours, seed).name]] for resource in HOST for hours in _HOURS
    }
    return {
        "Figure 6.1 (E14): a sliver follows its load; substitute workload": _sliver_checks(slivers),
        "Figure 6.2 (E15): a sliver grows to a whole host": _conflict_checks(),
        "Figures 6.3 to 6.6 (E16 to E19); substitute workload": _pair_checks(_pairs(outcomes, seed)),
    }


def _sliver_checks(found: Mapping[tuple[str, int], Sequence[Outcome]]) -> list[Check]:
    checks = []
    for resource, offered in HOST.items():
        runs = found[resource, _SHOWN_HOURS]
        lag = _SHOWN_HOURS * STEPS_PER_HOUR + INTERVAL
        checks += [
            check(f"{resource}: error, as a part of the range of the demand", None, runs, "rmse_share", None, 0.15),
            falls(
                f"{resource}: the error grows from leases of 2 to 16 h",
                [-mean(found[resource, hours], "rmse_share") for hours in _HOURS],
            ),
            check(f"{resource}: largest sliver", offered, runs, "largest", None, offered, "at most a host"),
            check(f"{resource}: lag behind the demand (steps of 5 min)", None, runs, "lag_steps", None, lag, "1 lease"),
        ]
    return checks


def _conflict_checks() -> list[Check]:
    """Return the checks of the example: A and B share a host of four units, and A grows from 1 to 2 and 4 (G3)."""
    to_two = to_grow(_example(1), 0, np.array([2]))
    to_whole = to_grow(_example(2), 0, np.array([4])) or []
    moves_b = float([(move.node, move.to) for move in to_whole] == [(1, 1)])
    return [
        Check("moves while the host has room", 0, (-1.0 if to_two is None else float(len(to_two)),), 0, 0),
        Check("moves when A needs the whole host", 1, (float(len(to_whole)),), 1, 1),
        Check("it is B that moves, to the host that the broker chose", 1, (moves_b,), 1, 1, "1 if that is so"),
    ]


def _example(size: int) -> Placement:
    """Return the placement by best fit of slivers A, of this size, and B, of one unit, on the first of two hosts."""
    return Placement(
        capacity=np.array([[4, 4]]),
        free=np.array([[3 - size, 4]]),
        sizes=np.array([[size, 1]]),
        hosts=np.array([0, 0]),
        wished=np.array([0, 1]),
        usable=np.array([True, True]),
        in_use=np.array([True, False]),
    )


def _pair_checks(found: _Pairs) -> list[Check]:
    means = {pair: mean(runs, "migrations") for pair, runs in found.items()}
    hours = {pair: mean(runs, "host_hours") for pair, runs in found.items()}
    checks = [
        check(f"migrations, {broker} / {provider}", thesis, found[broker, provider], "migrations", low, high, note)
        for (broker, provider), thesis, low, high, note in (
            (_ORDER[0], 0, 0, 0, ""),
            (_ORDER[1], None, 1, None, "curve only"),
            (_ORDER[2], 500, 1, 1_000, "thesis: fewer than 500"),
            (_ORDER[3], None, 1, None, "curve only"),
        )
    ]
    checks.append(falls("migrations: the order of figure 6.6", [-means[pair] for pair in _ORDER]))
    for broker in BROKERS:
        quiet, follows = hours[broker, "energy-aware"], hours[broker, "follow-broker"]
        checks.append(
            Check(
                f"host-hours saved, {broker}", None, (1 - quiet / follows,), 0.1, None, "energy-aware : follow-broker"
            )
        )
        both = [found[broker, provider] for provider in PROVIDERS]
        differ = max(
            abs(one["broker_host_hours"] - other["broker_host_hours"]) for one, other in zip(*both, strict=True)
        )
        checks.append(Check(f"host-hours of the broker that differ, {broker}", 0, (differ,), 0, 0, "same with both"))
    more = hours["migrating", "follow-broker"] - hours["in-place", "follow-broker"]
    checks.append(Check("host-hours that migrating takes more than in-place", None, (more,), 0, None))
    return checks


def _plot(found: _Pairs, directory: Path) -> None:
    """Plot hosts in use and migrations of the first seed (figures 6.3 to 6.6)."""
    hosts = {
        f"{broker} broker": {
            "broker, and a provider that follows it": found[broker, "follow-broker"][0]["hosts_by_day"],
            "energy-aware provider": found[broker, "energy-aware"][0]["hosts_by_day"],
        }
        for broker in BROKERS
    }
    plot_over_time(hosts, directory / "fig-6.4.png", interval=1, time="days", measure="hosts in use")
    migrations = {
        "": {f"{broker} / {provider}": found[broker, provider][0]["migrations_by_day"] for broker, provider in _ORDER}
    }
    plot_over_time(migrations, directory / "fig-6.6.png", interval=1, time="days", measure="migrations so far")
