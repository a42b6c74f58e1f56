"""The papers whose experiments can be repeated, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from stevedore import ExtensionManager

from lease_scheduler.papers.paper import Chapter, Paper

#: Each entry point of this namespace is a ``Paper``.
NAMESPACE = "lease_scheduler.papers"


@cache
def papers() -> tuple[Paper, ...]:
    """Return all papers, in the order of their names."""
    found: Any = ExtensionManager(NAMESPACE, invoke_on_load=False)
    return tuple(sorted((each.plugin for each in found), key=lambda paper: paper.name))


def names() -> list[str]:
    """Return the names of all experiments, paper after paper."""
    found = [name for paper in papers() for name in (paper.name, *sorted(paper.chapters), *paper.further)]
    return list(dict.fromkeys(found))


def find(name: str) -> tuple[Paper, Mapping[str, Chapter]]:
    """Return the paper that an experiment belongs to, and its chapters.

    :param name: one of ``names``
    """
    return next((paper, chapters) for paper in papers() if (chapters := paper.named(name)) is not None)
