"""Comparisons with chapters 4 to 6 of Grit 2007 (shirako E3, E5-E19)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from rich.console import Console

from lease_scheduler.cmd.lease_sim import main
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.paper import Chapter
from lease_scheduler.papers.replications import Replication
from lease_scheduler.papers.shirako import shirako_4, shirako_5, shirako_6
from lease_scheduler.papers.shirako.elastic_requests import ElasticCase
from lease_scheduler.simulation.campaigns.case import Outcome

_SEEDS = (1, 2, 3)


def _run(chapter: Chapter) -> dict[str, Outcome]:
    cases = [case for seed in _SEEDS for case in chapter.cases(extent=Extent.REPEATED, seed=seed)]
    return {case.name: case.run() for case in {case.name: case for case in cases}.values()}


def _missed(chapter: Chapter, found: dict[str, Outcome], directory: Path) -> list[str]:
    """Report, and return the names of the figures outside their bands."""
    replications = [Replication(Extent.REPEATED, seed) for seed in _SEEDS]
    with (directory / "out").open("w") as out:
        outside = chapter.report(found, directory, replications=replications, console=Console(file=out))
    with (directory / "checks.csv").open() as stream:
        missed = [row["check"] for row in csv.DictReader(stream) if row["result"] == "MISS"]
    assert len(missed) == outside
    return missed


def test_chapter_4_is_repeated(tmp_path: Path) -> None:
    assert main(["experiment", "shirako-4", "--once", "--output", str(tmp_path), "--quiet"]) == 0
    with (tmp_path / "checks.csv").open() as stream:
        rows = {row["check"]: row for row in csv.DictReader(stream)}
    assert rows["requests in each run"]["ours"] == "2024"
    assert (tmp_path / "table-4.3.png").exists()


@pytest.mark.parametrize(
    ("chapter", "figures", "missed"),
    [
        (
            shirako_5,
            ("fig-5.5-5.6", "fig-5.7-5.9", "fig-5.10", "fig-5.11"),
            [
                "E10 with w = 50: share of the wide flow",
                "E10 with w = 100: share of the wide flow",
                "figure 5.10: (b) above (c) by",
            ],
        ),
        (shirako_6, ("fig-6.4", "fig-6.6"), []),
    ],
)
def test_a_chapter_is_repeated(chapter: Chapter, figures: tuple[str, ...], missed: list[str], tmp_path: Path) -> None:
    """All figures lie in their bands, in the mean over three seeds, but for those that the page explains."""
    found = _run(chapter)
    assert _missed(chapter, found, tmp_path) == missed
    assert all((tmp_path / f"{name}.png").exists() for name in figures)


def test_fewer_requests_with_more_elasticity_are_a_miss(tmp_path: Path) -> None:
    """The checks are able to fail."""
    found = _run(shirako_4)
    for seed in _SEEDS:
        found[ElasticCase(100, seed).name] = {"allocated": 500, "rejected": 1_500}
    # With the first three seeds, the error of e-commerce with short leases is 17 hosts; over thirty it is in its band.
    assert _missed(shirako_4, found, tmp_path) == [
        "e-commerce, leases of 12 h: error (hosts)",
        "requests in each run",
        "allocated falls with elasticity",
        "allocated, 100 % : 0 %",
    ]
