"""Checks of ``deadlines``: table 5.2 and figure 5.12 (Sotomayor 2010, section 5.5; haizea E2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.haizea.deadlines import DEADLINES, MODES, STARTS, TRACES, DeadlineCase
from lease_scheduler.simulation.campaigns.case import Outcome

Outcomes = Mapping[str, Outcome]

#: Criterion -> trace -> row -> number of accepted leases in the dissertation for each mode, and number of all.
_TABLE: dict[str, dict[str, dict[tuple[str, str], tuple[int, int, int, int]]]] = {
    "slack": {
        "BLUE2": {
            ("LATE", "TIGHT"): (597, 873, 902, 1155),
            ("UNIFORM", "UNIFORM"): (86, 132, 128, 192),
            ("EARLY", "LOOSE"): (13, 18, 18, 29),
        },
        "DS": {
            ("LATE", "TIGHT"): (920, 1298, 1287, 2256),
            ("UNIFORM", "UNIFORM"): (129, 262, 270, 468),
            ("EARLY", "LOOSE"): (22, 29, 33, 50),
        },
    },
    "wait": {
        "BLUE2": {
            ("LATE", "TIGHT"): (2553, 2973, 3049, 3387),
            ("UNIFORM", "UNIFORM"): (632, 732, 739, 839),
            ("EARLY", "LOOSE"): (75, 81, 80, 94),
        },
        "DS": {
            ("LATE", "TIGHT"): (1987, 2391, 2401, 3467),
            ("UNIFORM", "UNIFORM"): (400, 569, 580, 774),
            ("EARLY", "LOOSE"): (51, 62, 63, 74),
        },
    },
}

#: Criterion -> trace -> bands of the accepted share for LATE/TIGHT, in %: without preemption, with preemption.
_SHARES = {
    "slack": {"BLUE2": ((47, 57), (70, 83)), "DS": ((33, 46), (50, 62))},
    "wait": {"BLUE2": ((72, 80), (84, 93)), "DS": ((50, 62), (64, 75))},
}

#: Criterion -> trace -> for each row, the expected number of tight leases by the laws of the annotations.
_EXPECTED = {
    "slack": {"BLUE2": (1161, 214, 24), "DS": (2231, 482, 51)},
    "wait": {"BLUE2": (3409, 884, 97), "DS": (3460, 813, 87)},
}

#: Figure 5.12 in an independent repetition without preemption: trace -> start -> utilisation for TIGHT, UNIFORM, LOOSE.
_UTILISATION = {
    "BLUE2": {"EARLY": (0.61, 0.70, 0.75), "UNIFORM": (0.59, 0.69, 0.73), "LATE": (0.59, 0.67, 0.71)},
    "DS": {"EARLY": (0.41, 0.48, 0.51), "UNIFORM": (0.37, 0.45, 0.47), "LATE": (0.36, 0.42, 0.47)},
}

_SIGMAS = 4
_MANY = 400


def cases(seed: int) -> list[DeadlineCase]:
    """Return all runs: the grid of figure 5.12 in three modes, with and without the last step of the algorithm."""
    return [
        DeadlineCase(trace, start, deadline, mode, seed, least_slack_first)
        for least_slack_first in (True, False)
        for trace in TRACES
        for start in STARTS
        for deadline in DEADLINES
        for mode in MODES
    ]


def table_checks(outcomes: Outcomes, seed: int, *, least_slack_first: bool) -> list[Check]:
    """Check table 5.2 (E2.2).

    The dissertation's algorithm includes the least-slack-first step; the runs that the bands are based on do not.
    """
    checks = []
    for criterion, traces in _TABLE.items():
        for trace, rows in traces.items():
            for number, (row, thesis) in enumerate(rows.items()):
                found = [outcomes[DeadlineCase(trace, *row, mode, seed, least_slack_first).name] for mode in MODES]
                checks += _row_checks(found, criterion, trace, row, thesis, _EXPECTED[criterion][trace][number])
    return checks


def _row_checks(
    found: Sequence[Outcome],
    criterion: str,
    trace: str,
    row: tuple[str, str],
    thesis: tuple[int, int, int, int],
    expected: int,
) -> list[Check]:
    name = f"{trace} {row[0]}/{row[1]}, tight by {criterion}"
    total = found[0][f"tight_by_{criterion}"]
    accepted = [outcome[f"accepted_by_{criterion}"] for outcome in found]
    spread = _SIGMAS * expected**0.5
    checks = [Check(f"{name}: out of", thesis[3], (total,), expected - spread, expected + spread)]
    bands = _SHARES[criterion][trace] if row == ("LATE", "TIGHT") else None
    for number, mode in enumerate(MODES):
        low, high = bands[min(number, 1)] if bands else (None, None)
        share = 100 * accepted[number] / total
        checks.append(Check(f"{name}, {mode}: accepted, %", 100 * thesis[number] / thesis[3], (share,), low, high))
    gain = 100 * (min(accepted[1:]) - accepted[0]) / total
    checks.append(Check(f"{name}: gain by preemption, points", None, (gain,), 0, None))
    if total > _MANY:
        difference = 100 * abs(accepted[2] - accepted[1]) / total
        checks.append(Check(f"{name}: difference by suspension, points", None, (difference,), None, 4))
    return checks


def utilisation(
    outcomes: Outcomes, seed: int, trace: str, mode: str, *, least_slack_first: bool = True
) -> dict[tuple[str, str], float]:
    """Return the values of figure 5.12: (start, deadline) -> mean utilisation."""
    return {
        (start, deadline): outcomes[DeadlineCase(trace, start, deadline, mode, seed, least_slack_first).name][
            "utilisation"
        ]
        for start in STARTS
        for deadline in DEADLINES
    }


def utilisation_checks(outcomes: Outcomes, seed: int, *, least_slack_first: bool) -> list[Check]:
    """Check figure 5.12 (E2.1) against an independent repetition, because the figure itself gives no numbers."""
    checks = []
    for trace, starts in _UTILISATION.items():
        ours = {mode: utilisation(outcomes, seed, trace, mode, least_slack_first=least_slack_first) for mode in MODES}
        without = ours["no preemption"]
        for start, values in starts.items():
            for deadline, value in zip(DEADLINES, values, strict=True):
                found = without[start, deadline]
                checks.append(
                    Check(f"{trace} {start}/{deadline}: utilisation", value, (found,), value - 0.06, value + 0.06)
                )
        for mode in MODES[1:]:
            largest = max(abs(ours[mode][cell] - without[cell]) for cell in without)
            checks.append(
                Check(f"{trace}: largest change of utilisation by preemption {mode}", None, (largest,), None, 0.08)
            )
        checks.append(_falls(trace, "with tighter deadlines", [[without[s, d] for d in DEADLINES] for s in STARTS]))
        checks.append(
            _falls(trace, "with later starts", [[without[s, d] for s in reversed(STARTS)] for d in DEADLINES])
        )
    return checks


def _falls(trace: str, how: str, lines: Sequence[Sequence[float]]) -> Check:
    falling = sum(a <= b for line in lines for a, b in pairwise(line))
    return Check(f"{trace}: of 6 steps, those in which utilisation falls {how}", 6, (falling,), 6, None)
