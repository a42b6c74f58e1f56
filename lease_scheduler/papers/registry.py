"""The papers whose experiments can be repeated. To add one, add its folder and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.papers.contention.chapters import PAPER as CONTENTION
from lease_scheduler.papers.dfrs.chapters import PAPER as DFRS
from lease_scheduler.papers.haizea.chapters import PAPER as HAIZEA
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.papers.prediction.chapters import PAPER as PREDICTION
from lease_scheduler.papers.shirako.chapters import PAPER as SHIRAKO

PAPERS: tuple[Paper, ...] = (HAIZEA, CONTENTION, SHIRAKO, PREDICTION, DFRS)


def names() -> list[str]:
    """Return the names of all experiments, paper after paper."""
    return [name for paper in PAPERS for name in (paper.name, *sorted(paper.chapters), *paper.further)]


def find(name: str) -> tuple[Paper, Mapping[str, Chapter]]:
    """Return the paper that an experiment belongs to, and its chapters.

    :param name: one of ``names``
    """
    return next((paper, chapters) for paper in PAPERS if (chapters := paper.named(name)) is not None)
