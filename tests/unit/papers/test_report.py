"""Reports of experiments, of a chapter whose figure is its seed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome


@dataclass(frozen=True)
class Seed:
    seed: int

    @property
    def name(self) -> str:
        return f"seed {self.seed}"

    def run(self) -> dict[str, Any]:
        return {"figure": self.seed}


def _cases(*, extent: Extent, seed: int) -> list[Case]:
    return [Seed(seed)]


def _fixed(*, extent: Extent, seed: int) -> list[Case]:
    return [Seed(1)]


def _nothing(*, extent: Extent, seed: int) -> list[Case]:
    return []


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    figure = (float(outcomes[f"seed {seed}"]["figure"]),)
    return {"Title": [Check("figure", None, figure, None, 2.5), Check("its double", None, figure, None, 1.5)]}


def _report(directory: Path, seeds: range, cases: Any = _cases, checks: Any = _checks) -> tuple[int, str]:
    outcomes = {f"seed {seed}": Seed(seed).run() for seed in seeds}
    replications = [Replication(Extent.ONCE, seed) for seed in seeds]
    outside = write_report(checks, cases, replications, outcomes, directory, Console(quiet=True))
    return outside, (directory / "report.txt").read_text()


def test_the_spread_is_in_the_report_and_in_the_table(tmp_path: Path) -> None:
    outside, text = _report(tmp_path, range(1, 4))
    assert outside == 1
    assert "Seeds 1 to 3. Each figure is the mean over the seeds" in text
    assert "1 of 2 figures lie in their bands. 0 do with every seed." in text
    with (tmp_path / "checks.csv").open() as stream:
        rows = {row["check"]: row for row in csv.DictReader(stream)}
    assert (rows["figure"]["range"], rows["figure"]["holds"], rows["figure"]["result"]) == ("1..3", "2 of 3", "pass")
    assert rows["its double"]["holds"] == "1 of 3"
    with (tmp_path / "runs.csv").open() as stream:
        assert [row["case"] for row in csv.DictReader(stream)] == ["seed 1", "seed 2", "seed 3"]


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    _, text = _report(tmp_path, range(2, 3))
    assert "Seed 2." in text and "holds" not in text
    assert text.endswith("1 of 2 figures lie in their bands.\n")


def test_runs_that_are_not_random_say_so(tmp_path: Path) -> None:
    _, text = _report(tmp_path, range(1, 2), _fixed)
    assert "Nothing in these runs is random, so a seed changes nothing." in text


def test_without_runs_the_report_names_no_seeds(tmp_path: Path) -> None:
    _, text = _report(tmp_path, range(1, 2), _nothing, lambda outcomes, *, extent, seed: {})
    assert text == "0 of 0 figures lie in their bands.\n"
