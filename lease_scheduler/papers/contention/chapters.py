"""The chapters of Amini Salehi's dissertation whose experiments can be repeated (Melbourne, 2012)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.contention import contention_3, contention_4, contention_5, contention_6, contention_7
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {
    "contention-3": contention_3,
    "contention-4": contention_4,
    "contention-5": contention_5,
    "contention-6": contention_6,
    "contention-7": contention_7,
}


def inputs() -> list[Path]:
    """Return the files that the runs read."""
    return [shipped_path("blue1")]


PAPER = Paper(
    "contention",
    CHAPTERS,
    "contention-3, -4, -5, -6, -7: these chapters of Amini Salehi 2012; contention: all of them together",
    inputs=inputs,
)
