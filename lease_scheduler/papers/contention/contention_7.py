"""Chapter 7: the prototype (Amini Salehi 2012, section 7.4; contention E14 and E15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.prototype import LOCAL, POLICIES, REQUESTS, GatewaysCase, PrototypeCase
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_bars

#: Policy -> preempted leases, seconds of overhead, makespan in seconds, as in table 7.2.
_TABLE = {"MLIP": ("1 6", 57.6, 7800), "MOV": ("2 3 5", 25.6, 8479), "MOML": ("5 6", 25.6, 7800)}

_MAKESPAN_NOTE = "8479 does not follow from table 7.1: 8640 or 9360 s if operations took no time"


#: Nothing is random.
SEEDS = DefaultSeeds(1)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. They are the same to every extent."""
    return [kind(policy) for kind in (PrototypeCase, GatewaysCase) for policy in POLICIES]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    found = _found(outcomes, PrototypeCase)
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    bars = {
        "overhead (s)": {policy: float(found[policy]["overhead_s"]) for policy in POLICIES},
        "makespan (100 s)": {policy: found[policy]["makespan_s"] / 100 for policy in POLICIES},
    }
    plot_bars(bars, directory / "table-7.2.png", measure="seconds, hundreds of seconds")
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _found(outcomes: Mapping[str, Outcome], kind: type[PrototypeCase] | type[GatewaysCase]) -> dict[str, Outcome]:
    return {policy: outcomes[kind(policy).name] for policy in POLICIES}


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    found, through = _found(outcomes, PrototypeCase), _found(outcomes, GatewaysCase)
    return {
        "Table 7.2 (E15)": _table_checks(found),
        "Figure 7.7 (E14): contention is resolved": _contention_checks(found),
        "Table 7.2 (E15), through three gateways": [*_table_checks(through), *_gateway_checks(through)],
        "Figure 7.7 (E14), through three gateways": _contention_checks(through),
    }


def _gateway_checks(found: Mapping[str, Outcome]) -> list[Check]:
    external = len(REQUESTS) - 1
    return [
        _exactly(f"{policy}, requests that two gateways passed on", external, found[policy]["through_gateways"])
        for policy in POLICIES
    ]


def _table_checks(found: Mapping[str, Outcome]) -> list[Check]:
    checks = []
    for policy, (victims, overhead, makespan) in _TABLE.items():
        ours = found[policy]
        is_same = float(ours["preempted"] == victims)
        checks.append(
            _exactly(f"{policy} preempts {victims.replace(' ', ', ')}", 1, is_same, f"ours: {ours['preempted']}")
        )
        checks.append(_exactly(f"{policy} overhead (s)", overhead, ours["overhead_s"]))
        ends = (float(ours["makespan_s"]),)
        if policy == "MOV":
            others = max(float(found[each]["makespan_s"]) for each in ("MLIP", "MOML"))
            checks.append(Check("MOV makespan (s)", makespan, ends, others + 1, None, _MAKESPAN_NOTE))
        else:
            checks.append(Check(f"{policy} makespan (s)", makespan, ends, makespan * 0.99, makespan * 1.01))
    return checks


def _contention_checks(found: Mapping[str, Outcome]) -> list[Check]:
    checks = [
        _exactly(
            f"NOP rejects request {LOCAL} and no other", 1, float(found["NOP"]["rejected"] == LOCAL), "1 if that is so"
        )
    ]
    for policy in _TABLE:
        ours = found[policy]
        checks.append(_exactly(f"{policy} delay of the local request (s)", 0, ours["local_delay_s"]))
        checks.append(_exactly(f"{policy} runs that lost their work", None, ours["runs_lost"]))
    makespan = found["NOP"]["makespan_s"]
    checks.append(
        Check(
            "NOP makespan (s)",
            None,
            (float(makespan),),
            None,
            float(found["MOML"]["makespan_s"]) - 1,
            "shorter than MOML",
        )
    )
    return checks


def _exactly(name: str, thesis: float | None, ours: float, note: str = "") -> Check:
    wanted = 0.0 if thesis is None else thesis
    return Check(name, thesis, (float(ours),), wanted, wanted, note)
