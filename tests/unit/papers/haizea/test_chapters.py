"""The complete set of experiments (haizea 5.7)."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.cmd.lease_sim import main
from lease_scheduler.papers import registry
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea.chapters import CHAPTERS, FURTHER, PAPER, inputs
from lease_scheduler.papers.replications import DefaultSeeds, Replication, distinct_cases
from lease_scheduler.simulation.campaigns.case import Case, CostedCase, Outcome, parameters_of


@dataclass(frozen=True)
class Small:
    """A run that leaves a file behind each time."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        return f"case {self.number}"

    def run(self) -> dict[str, Any]:
        runs = len(list(self.folder.glob(f"{self.number}-*")))
        (self.folder / f"{self.number}-{runs}").touch()
        return {"run": runs}


_ONE_SEED = DefaultSeeds(1)


@dataclass(frozen=True)
class SmallChapter:
    """A chapter that writes what it was given. If it is random, a seed adds its hundreds to the numbers."""

    numbers: tuple[int, ...]
    folder: Path
    is_random: bool = False
    SEEDS: DefaultSeeds = _ONE_SEED

    def cases(self, *, extent: Extent, seed: int = 1) -> list[Case]:
        more = 100 * seed if self.is_random else 0
        return [Small(more + number, self.folder) for number in self.numbers[: None if extent.is_whole else 1]]

    def report(
        self,
        outcomes: Mapping[str, Outcome],
        directory: Path,
        *,
        replications: Sequence[Replication],
        console: Console,
    ) -> int:
        own = {case.name: outcomes[case.name]["run"] for case in distinct_cases(self.cases, replications)}
        with (directory / "runs.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(own.items())
        return 0


def test_a_run_of_several_chapters_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ran").mkdir()
    chapters = {
        "haizea-5": SmallChapter((1, 2, 3), tmp_path / "ran"),
        "haizea-6": SmallChapter((3, 4), tmp_path / "ran"),
    }
    monkeypatch.setattr(registry, "papers", lambda: (replace(PAPER, chapters=chapters),))
    out = tmp_path / "out"
    words = ["--output", str(out), "--jobs", "2", "--quiet"]
    assert main(["experiment", "haizea", "--quick", *words]) == 0
    assert sorted(path.name for path in (tmp_path / "ran").iterdir()) == ["1-0", "3-0"]
    assert main(["experiment", "haizea", *words]) == 0
    assert sorted(path.name for path in (tmp_path / "ran").iterdir()) == ["1-0", "2-0", "3-0", "4-0"]
    assert (out / "haizea-5" / "runs.csv").read_text().splitlines() == ["case 1,0", "case 2,0", "case 3,0"]
    assert (out / "haizea-6" / "runs.csv").read_text().splitlines() == ["case 3,0", "case 4,0"]
    # A single chapter reports into the directory itself.
    assert main(["experiment", "haizea-6", "--output", str(tmp_path / "six"), "--quiet"]) == 0
    assert (tmp_path / "six" / "runs.csv").exists()


@pytest.mark.parametrize(("is_random", "expected"), [(True, [701, 801]), (False, [1])])
def test_a_chapter_is_repeated_with_other_seeds_if_it_is_random(
    is_random: bool, expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ran").mkdir()
    chapter = SmallChapter((1, 2), tmp_path / "ran", is_random)
    monkeypatch.setattr(registry, "papers", lambda: (replace(PAPER, chapters={"haizea-5": chapter}),))
    out = tmp_path / "out"
    words = ["--quick", "--seed", "7", "--seeds", "2", "--output", str(out), "--jobs", "1", "--quiet"]
    assert main(["experiment", "haizea-5", *words]) == 0
    assert (out / "runs.csv").read_text().splitlines() == [f"case {number},0" for number in expected]


@pytest.mark.parametrize("words", [["--seed", "0"], ["--seeds", "0"], ["--seeds", "many"]])
def test_a_seed_is_a_whole_number_from_1_on(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "haizea-5", *words])
    assert ended.value.code == 2
    assert f"argument {words[0]}: must be a whole number of at least 1, not {words[1]}" in capsys.readouterr().err


def test_all_runs_have_unique_names_and_a_cost() -> None:
    chapters = (*CHAPTERS.values(), *FURTHER.values())
    cases = [
        case
        for chapter in chapters
        for extent in Extent
        for seed in (1, 2)
        for case in chapter.cases(extent=extent, seed=seed)
    ]
    by_name: dict[str, dict[str, Any]] = {}
    for case in cases:
        assert by_name.setdefault(case.name, parameters_of(case)) == parameters_of(case)
        assert isinstance(case, CostedCase)
        assert case.cost_s > 0
    assert len(by_name) > 500
    assert all(path.is_file() for path in inputs())


@pytest.mark.parametrize("name", [*CHAPTERS, *FURTHER])
def test_each_extent_holds_all_runs_of_the_smaller_ones(name: str) -> None:
    chapter = {**CHAPTERS, **FURTHER}[name]
    quick, once, repeated = ({case.name for case in chapter.cases(extent=extent)} for extent in Extent)
    assert quick <= once <= repeated
    assert {getattr(case, "seed", 1) for case in chapter.cases(extent=Extent.ONCE)} <= {0, 1}


@pytest.mark.skipif(
    "LEASE_SCHEDULER_DATA" not in os.environ, reason="needs the recorded data; set LEASE_SCHEDULER_DATA to its folder"
)
def test_the_extent_once_has_about_as_many_runs_as_the_dissertation() -> None:
    # haizea 5.1 to 5.6: some 1,100 for experiments E1, E2, E3, E5 and E6.
    names = {case.name for chapter in CHAPTERS.values() for case in chapter.cases(extent=Extent.ONCE)}
    assert 1_050 <= len(names) <= 1_150


def test_quick_and_once_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "haizea-5", "--quick", "--once"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


def test_every_experiment_is_listed_once_and_found() -> None:
    names = registry.names()
    assert [name for name in names if name.startswith("haizea")] == [
        *("haizea", "haizea-5", "haizea-6", "haizea-7", "haizea-8", "haizea-2008")
    ]
    assert len(set(names)) == len(names)
    for paper in registry.papers():
        assert list(registry.find(paper.name)[1]) == list(paper.chapters)
        for name in (*paper.chapters, *paper.further):
            assert list(registry.find(name)[1]) == [name]
