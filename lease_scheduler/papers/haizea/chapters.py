"""The chapters of Haizea's dissertation whose experiments can be repeated (Sotomayor 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.haizea import haizea_5, haizea_6, haizea_7, haizea_8, haizea_2008
from lease_scheduler.papers.haizea.best_effort_and_reservations import SET_ARCHIVE
from lease_scheduler.papers.haizea.deadlines import TRACES
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.generators.reservations import preset_by_name
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {
    "haizea-5": haizea_5,
    "haizea-6": haizea_6,
    "haizea-7": haizea_7,
    "haizea-8": haizea_8,
}

#: Further experiments, which are not in the dissertation.
FURTHER: Mapping[str, Chapter] = {"haizea-2008": haizea_2008}

#: Class of case and log, or None -> CPU seconds without reservations, and CPU seconds that each reservation adds.
#: Measured in the complete set of 2026 on a busy machine; only the ratios matter.
_COSTS = {
    ("ReservationCase", None): (8.0, 0.004),
    ("ImageCase", None): (17.0, 0.01),
    ("SuspensionCase", None): (6.0, 0.025),
    ("DeadlineCase", "BLUE2"): (11.0, 0.0),
    ("DeadlineCase", "DS"): (33.0, 0.0),
    ("PriceCase", "BLUE2"): (6.0, 0.0),
    ("PriceCase", "DS"): (15.0, 0.0),
    ("RateSweepCase", "BLUE2"): (0.2, 0.0),
    ("RateSweepCase", "DS"): (0.2, 0.0),
}

#: The same for other cases.
_OTHER_COST = (12.0, 0.0)


def forecast(case: Case) -> float:
    """Return roughly how many CPU seconds a run takes."""
    fixed, each = _COSTS.get((type(case).__name__, getattr(case, "trace", None)), _OTHER_COST)
    reservations = getattr(case, "reservations", None)
    return fixed if reservations is None else fixed + each * _expected_count(reservations)


@cache
def _expected_count(reservations: str) -> float:
    """Return the approximate number of reservations in a set."""
    laws = preset_by_name(reservations)
    one = (laws.nodes_min + laws.nodes_max) / 2 * laws.duration
    return laws.utilisation * laws.hosts * laws.span / one


def inputs() -> list[Path]:
    """Return the files that the runs read: shipped ones, and those that exist in the folder of workload logs."""
    folder = data_folder()
    logs = [] if folder is None else [folder / SET_ARCHIVE, *(folder / trace.file for trace in TRACES.values())]
    return [shipped_path("blue1"), *(log for log in logs if log.is_file())]


PAPER = Paper(
    "haizea",
    CHAPTERS,
    FURTHER,
    "haizea-5, -6, -7, -8: these chapters of Sotomayor 2010; haizea: all of them together; haizea-2008: chapter 5 with "
    "its author's reservations of 2008",
    inputs,
    forecast,
)
