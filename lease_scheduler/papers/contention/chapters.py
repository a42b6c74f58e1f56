"""The chapters of Amini Salehi's dissertation whose experiments can be repeated (Melbourne, 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.contention import contention_3, contention_5, contention_6, contention_7
from lease_scheduler.papers.contention.sleeping_site import DAYS, EnergyCase
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {
    "contention-3": contention_3,
    "contention-5": contention_5,
    "contention-6": contention_6,
    "contention-7": contention_7,
}

#: Class of case -> CPU seconds; only the ratios matter.
_COSTS = {"PrototypeCase": 0.1, "SiteCase": 2.0, "AdmissionCase": 0.3, "QueueCase": 3.0, "EnergyCase": 13.0}


def forecast(case: Case) -> float:
    """Return roughly how many CPU seconds a run takes."""
    days = case.days / DAYS if isinstance(case, EnergyCase) else 1.0
    return _COSTS[type(case).__name__] * days


def inputs() -> list[Path]:
    """Return the files that the runs read."""
    return [shipped_path("blue1")]


PAPER = Paper(
    "contention",
    CHAPTERS,
    {},
    "contention-3, -5, -6, -7: these chapters of Amini Salehi 2012; contention: all of them together",
    inputs,
    forecast,
)
