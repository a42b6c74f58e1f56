from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.campaigns.runner import run_campaign


@dataclass(frozen=True)
class Counting:
    """A case that leaves a file behind each time that it is run."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        return f"case {self.number}"

    def run(self) -> dict[str, Any]:
        runs = len(list(self.folder.glob(f"{self.number}-*")))
        (self.folder / f"{self.number}-{runs}").touch()
        return {"square": self.number**2, "run": runs}


@dataclass(frozen=True)
class Failing(Counting):
    def run(self) -> dict[str, Any]:
        raise ValueError("out of order")


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_case_is_run_once_and_never_again(tmp_path: Path, jobs: int) -> None:
    cases = [Counting(number, tmp_path) for number in range(5)]
    first = run_campaign(cases[:3], tmp_path / "out", jobs, quiet=True)
    everything = run_campaign(cases, tmp_path / "out", jobs, quiet=True)
    assert {name: outcome["square"] for name, outcome in everything.items()} == {f"case {n}": n * n for n in range(5)}
    assert all(everything[name] == outcome for name, outcome in first.items())
    assert all(outcome["run"] == 0 for outcome in everything.values())


def test_a_line_that_was_cut_off_by_a_kill_is_run_again(tmp_path: Path) -> None:
    cases = [Counting(number, tmp_path) for number in range(2)]
    run_campaign(cases, tmp_path / "out", 1, quiet=True)
    kept = tmp_path / "out" / "runs.jsonl"
    kept.write_text(kept.read_text()[:-10])
    again = run_campaign(cases, tmp_path / "out", 1, quiet=True)
    assert [again[f"case {number}"]["run"] for number in range(2)] == [0, 1]
    assert run_campaign(cases, tmp_path / "out", 1, quiet=True) == again


def test_a_case_that_fails_leaves_the_others_outcomes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="out of order"):
        run_campaign([Counting(0, tmp_path), Failing(1, tmp_path)], tmp_path / "out", 1, quiet=True)
    (line,) = (tmp_path / "out" / "runs.jsonl").read_text().splitlines()
    assert json.loads(line)["case"] == "case 0"


def test_a_folder_with_something_else_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"other": 1}\n{"case": "a", "outcome": {}}\n')
    with pytest.raises(InputFileError, match=r"runs\.jsonl:1: is not an outcome"):
        run_campaign([Counting(0, tmp_path)], tmp_path, 1, quiet=True)
