"""The chapters of Grit's dissertation whose experiments can be repeated (Duke University, 2007)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.papers.shirako import shirako_4, shirako_5, shirako_6
from lease_scheduler.papers.shirako.lease_length import WORLD_CUP
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {"shirako-4": shirako_4, "shirako-5": shirako_5, "shirako-6": shirako_6}


def inputs() -> list[Path]:
    """Return the files that the runs read: a shipped one, and the recorded load if it is there."""
    folder = data_folder()
    recorded = None if folder is None else folder / WORLD_CUP
    return [shipped_path("blue1"), *([recorded] if recorded is not None and recorded.is_file() else [])]


PAPER = Paper(
    "shirako",
    CHAPTERS,
    "shirako-4, -5, -6: these chapters of Grit 2007; shirako: all of them together",
    inputs=inputs,
)
