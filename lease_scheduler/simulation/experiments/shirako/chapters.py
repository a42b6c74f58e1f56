"""The chapters of Grit's dissertation whose experiments can be repeated (Duke University, 2007)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.experiments.paper import Chapter, Paper
from lease_scheduler.simulation.experiments.shirako import shirako_4, shirako_5, shirako_6

CHAPTERS: Mapping[str, Chapter] = {"shirako-4": shirako_4, "shirako-5": shirako_5, "shirako-6": shirako_6}

#: Class of case -> CPU seconds; only the ratios matter.
_COSTS = {
    "ElasticCase": 0.2,
    "WorkedExampleCase": 0.01,
    "FlowsCase": 0.2,
    "FairnessCase": 1.5,
    "SliverCase": 0.2,
    "TwoPlacementsCase": 1.2,
}


def forecast(case: Case) -> float:
    """Return roughly how many CPU seconds a run takes."""
    return _COSTS[type(case).__name__]


def inputs() -> list[Path]:
    """Return the files that the runs read: none, as all workloads are generated."""
    return []


PAPER = Paper(
    "shirako",
    CHAPTERS,
    {},
    "shirako-4, -5, -6: these chapters of Grit 2007; shirako: all of them together",
    inputs,
    forecast,
)
