"""Comparisons with chapter 7 of Amini Salehi 2012 (contention E14, E15)."""

from __future__ import annotations

import csv
from pathlib import Path

from rich.console import Console

from lease_scheduler.cmd.lease_sim import main
from lease_scheduler.papers.contention import contention_7
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication


def test_the_chapter_reproduces_the_published_table(tmp_path: Path) -> None:
    assert main(["experiment", "contention-7", "--output", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "table-7.2.png").exists()
    with (tmp_path / "checks.csv").open() as stream:
        rows = {row["check"]: row for row in csv.DictReader(stream)}
    assert {row["result"] for row in rows.values()} == {"pass"}
    assert rows["MOML overhead (s)"]["thesis"] == rows["MOML overhead (s)"]["ours"] == "25.6"


def test_other_victims_fail_the_checks(tmp_path: Path) -> None:
    """The checks are able to fail."""
    found = {case.name: case.run() for case in contention_7.cases(extent=Extent.ONCE)}
    found["prototype MOML"] = {**found["prototype MOML"], "preempted": "1 6", "overhead_s": 57.6}
    with (tmp_path / "out").open("w") as out:
        console = Console(file=out)
        assert contention_7.report(found, tmp_path, replications=[Replication(Extent.ONCE)], console=console) == 2
