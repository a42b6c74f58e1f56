"""The chapters of Stillwell's dissertation whose experiments can be repeated (Hawai'i at Manoa, 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.experiments.dfrs import dfrs_4
from lease_scheduler.simulation.experiments.dfrs.offline_cases import OfflineCase, OptimumCase
from lease_scheduler.simulation.experiments.paper import Chapter, Paper

CHAPTERS: Mapping[str, Chapter] = {"dfrs-4": dfrs_4}


def forecast(case: Case) -> float:
    """Return roughly how many CPU seconds a run takes."""
    if isinstance(case, OfflineCase):
        return case.instances * case.jobs * case.dimensions / 500
    assert isinstance(case, OptimumCase)
    return case.instances * case.jobs / 2


def inputs() -> list[Path]:
    """Return the files that the runs read: none, as all instances are generated."""
    return []


PAPER = Paper("dfrs", CHAPTERS, {}, "dfrs-4: this chapter of Stillwell 2010; dfrs: all of them", inputs, forecast)
