"""Checks of ``lease_length``: figures 4.8 and 4.9 (Grit 2007, section 4.7; shirako E1, E2)."""

from __future__ import annotations

from collections.abc import Mapping
from math import nextafter

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.shirako.lease_length import (
    BACKLOG,
    BATCH,
    COMMERCE,
    GENERATED,
    GUESTS,
    LONG,
    RECORDED,
    SHORT,
    FilterCase,
    LeaseLengthCase,
)
from lease_scheduler.simulation.campaigns.case import Case, Outcome

#: Guest -> error in figure 4.9 by hours of a lease.
_FIGURE = {COMMERCE: {SHORT: 13.0, LONG: 31.0}, BATCH: {SHORT: 23.0, LONG: 22.0}}
#: Hours -> how far the error of e-commerce may be from that.
_TOLERANCES = {SHORT: 3.0, LONG: 5.0}

_SUBSTITUTE = "substitute"


def cases(seed: int) -> list[Case]:
    """Return the runs with a seed, and those with recorded loads if the folder of workload logs is there."""
    found: list[Case] = [FilterCase(GENERATED, seed)]
    found += [LeaseLengthCase(hours, loads, seed) for loads in (GENERATED, BACKLOG) for hours in _TOLERANCES]
    if data_folder() is not None:
        found += [FilterCase(RECORDED), *(LeaseLengthCase(hours, RECORDED) for hours in _TOLERANCES)]
    return found


def filter_checks(outcomes: Mapping[str, Outcome], seed: int, loads: str = GENERATED) -> list[Check]:
    """Return the checks of the filter (E1): a level that holds, moves far less than the load, and keeps its mean."""
    found = outcomes[FilterCase(loads, seed).name]
    note = "" if loads == GENERATED else "no band: the band is that of the generator"
    most = 0.2 if loads == GENERATED else None
    return [
        Check("steps at which the level changes, share", None, (found["changes_share"],), None, None, "it holds"),
        Check("variation of the level, by that of the load", None, (found["variation_ratio"],), None, most, note),
        Check("difference of the means, share", None, (found["mean_difference"],), None, nextafter(0.05, 0.0)),
    ]


def length_checks(outcomes: Mapping[str, Outcome], seed: int) -> list[Check]:
    """Return the checks of the lengths of leases (E2) with generated loads."""
    by_hours = {hours: outcomes[LeaseLengthCase(hours, GENERATED, seed).name] for hours in _TOLERANCES}
    backlog = {hours: outcomes[LeaseLengthCase(hours, BACKLOG, seed).name] for hours in _TOLERANCES}
    checks = []
    for hours, tolerance in _TOLERANCES.items():
        thesis = _FIGURE[COMMERCE][hours]
        ours = (by_hours[hours][f"rmse {COMMERCE}"],)
        checks.append(Check(_named(COMMERCE, hours), thesis, ours, thesis - tolerance, thesis + tolerance, _SUBSTITUTE))
    for hours in _TOLERANCES:
        ours = (by_hours[hours][f"rmse {BATCH}"],)
        checks.append(Check(_named(BATCH, hours), _FIGURE[BATCH][hours], ours, None, None, _SUBSTITUTE))
    checks += [
        *_shape_checks(by_hours),
        Check(
            "batch: change of the error from 12 to 72 h, share",
            22 / 23 - 1,
            (_change(by_hours),),
            -0.35,
            0.35,
            "its sign depends on the load",
        ),
        Check(
            "batch with a long backlog: decrease of the error, share",
            None,
            (-_change(backlog),),
            1e-12,
            None,
            "long leases help batch",
        ),
    ]
    orders = [found["out_of_order"] for found in (*by_hours.values(), *backlog.values())]
    checks.append(Check("steps at which batch is served while e-commerce lacks hosts", 0, (sum(orders),), 0, 0))
    return checks


def recorded_checks(outcomes: Mapping[str, Outcome]) -> dict[str, list[Check]]:
    """Return the same figures with recorded loads, which the bands of the absolute errors are not for."""
    if data_folder() is None:
        return {}
    by_hours = {hours: outcomes[LeaseLengthCase(hours, RECORDED).name] for hours in _TOLERANCES}
    errors = [
        Check(_named(guest, hours), _FIGURE[guest][hours], (by_hours[hours][f"rmse {guest}"],), None, None, _SUBSTITUTE)
        for guest in GUESTS
        for hours in _TOLERANCES
    ]
    served = (sum(found["out_of_order"] for found in by_hours.values()),)
    return {
        "Figures 4.8 and 4.9 with recorded loads: the site of the World Cup of 1998, and BLUE1; substitute workload": [
            *filter_checks(outcomes, 1, RECORDED),
            *errors,
            *_shape_checks(by_hours),
            Check("steps at which batch is served while e-commerce lacks hosts", 0, served, 0, 0),
        ]
    }


def _shape_checks(by_hours: Mapping[int, Outcome]) -> list[Check]:
    short, long = by_hours[SHORT], by_hours[LONG]
    error = short[f"rmse {COMMERCE}"]
    inversions = [found["longest_inversion_h"] for found in (short, long)]
    return [
        Check("e-commerce: error, 72 h : 12 h", 31 / 13, (long[f"rmse {COMMERCE}"] / error,), 1.8, None),
        Check("error with 12 h, batch less e-commerce", 10, (short[f"rmse {BATCH}"] - error,), 0, None),
        Check(
            "longest inversion of priorities, 72 h : 12 h",
            None,
            (inversions[1] / inversions[0],),
            nextafter(1.0, 2.0),
            None,
            f"{inversions[0]:.1f} and {inversions[1]:.1f} h",
        ),
    ]


def _named(guest: str, hours: int) -> str:
    return f"{guest}, leases of {hours} h: error (hosts)"


def _change(by_hours: Mapping[int, Outcome]) -> float:
    return float(by_hours[LONG][f"rmse {BATCH}"] / by_hours[SHORT][f"rmse {BATCH}"] - 1)


def lines(outcomes: Mapping[str, Outcome], seed: int) -> dict[str, dict[str, list[float]]]:
    """Return the lines of figure 4.9: panel -> line -> means of six hours."""
    return {
        f"{guest}, leases of {hours} h": {
            what: outcomes[LeaseLengthCase(hours, GENERATED, seed).name][f"{key} {guest}"]
            for what, key in (("load", "wanted"), ("leases", "held"))
        }
        for guest in GUESTS
        for hours in _TOLERANCES
    }
