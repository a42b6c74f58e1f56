"""The chapters of Haizea's dissertation whose experiments can be repeated (Sotomayor 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.haizea import haizea_5, haizea_6, haizea_7, haizea_8, haizea_2008
from lease_scheduler.papers.haizea.best_effort_and_reservations import SET_ARCHIVE
from lease_scheduler.papers.haizea.deadlines import TRACES
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {
    "haizea-5": haizea_5,
    "haizea-6": haizea_6,
    "haizea-7": haizea_7,
    "haizea-8": haizea_8,
}

#: Further experiments, which are not in the dissertation.
FURTHER: Mapping[str, Chapter] = {"haizea-2008": haizea_2008}


def inputs() -> list[Path]:
    """Return the files that the runs read: shipped ones, and those that exist in the folder of workload logs."""
    folder = data_folder()
    logs = [] if folder is None else [folder / SET_ARCHIVE, *(folder / trace.file for trace in TRACES.values())]
    return [shipped_path("blue1"), *(log for log in logs if log.is_file())]


PAPER = Paper(
    "haizea",
    CHAPTERS,
    "haizea-5, -6, -7, -8: these chapters of Sotomayor 2010; haizea: all of them together; haizea-2008: chapter 5 with "
    "its author's reservations of 2008",
    FURTHER,
    inputs=inputs,
)
