"""Campaigns of small cases, in real processes (haizea S14)."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.campaigns.runner import CampaignFailedError, Execution, run_campaign

QUIET = Execution(jobs=2, quiet=True)

#: CPU seconds of a successful case.
WORK = 0.1


@dataclass(frozen=True)
class Counting:
    """A case that leaves a file behind each time it runs."""

    number: int
    folder: Path
    seed: int = 7

    @property
    def name(self) -> str:
        return f"case {self.number}"

    def run(self) -> dict[str, Any]:
        runs = len(list(self.folder.glob(f"{self.number}-*")))
        (self.folder / f"{self.number}-{runs}").touch()
        return {"square": self.number**2, "run": runs}


@dataclass(frozen=True)
class Costly:
    """A case that says what it costs."""

    number: int
    folder: Path
    cost_s: float

    @property
    def name(self) -> str:
        return f"case {self.number}"

    def run(self) -> dict[str, Any]:
        return {"square": self.number**2}


@dataclass(frozen=True)
class Working(Counting):
    """Computes for a while, and sleeps for as long."""

    def run(self) -> dict[str, Any]:
        end = time.thread_time() + WORK
        while time.thread_time() < end:
            pass
        time.sleep(WORK)
        return Counting.run(self)


@dataclass(frozen=True)
class Failing(Counting):
    """Fails until it is repaired."""

    def run(self) -> dict[str, Any]:
        if not (self.folder / "mended").exists():
            raise ValueError("out of\norder")
        return Counting.run(self)


@dataclass(frozen=True)
class Deadly(Counting):
    """Kills its process until it is repaired."""

    def run(self) -> dict[str, Any]:
        if not (self.folder / "mended").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return Counting.run(self)


@dataclass(frozen=True)
class Interrupting(Counting):
    """Hangs in its process for ever, and records the process."""

    def run(self) -> dict[str, Any]:
        (self.folder / "pid").write_text(str(os.getpid()))
        signal.pause()
        return {}


def test_every_case_is_run_once_and_never_again(tmp_path: Path) -> None:
    cases = [Counting(number, tmp_path) for number in range(5)]
    first = run_campaign(cases[:3], tmp_path / "out", QUIET)
    everything = run_campaign([*cases, *cases], tmp_path / "out", QUIET)
    assert {name: outcome["square"] for name, outcome in everything.items()} == {f"case {n}": n * n for n in range(5)}
    assert all(everything[name] == outcome for name, outcome in first.items())
    assert all(outcome["run"] == 0 for outcome in everything.values())


def test_a_line_that_was_cut_off_by_a_kill_is_run_again(tmp_path: Path) -> None:
    cases = [Counting(number, tmp_path) for number in range(2)]
    one = Execution(jobs=1, quiet=True)
    run_campaign(cases, tmp_path / "out", one)
    kept = tmp_path / "out" / "runs.jsonl"
    kept.write_text(kept.read_text()[:-10])
    again = run_campaign(cases, tmp_path / "out", one)
    assert sorted(again[f"case {number}"]["run"] for number in range(2)) == [0, 1]
    assert run_campaign(cases, tmp_path / "out", one) == again


def test_runs_that_fail_or_kill_their_process_are_named_and_tried_again(tmp_path: Path) -> None:
    cases: list[Case] = [Failing(0, tmp_path), Deadly(1, tmp_path), *(Counting(n, tmp_path) for n in range(2, 6))]
    with pytest.raises(CampaignFailedError) as failed:
        run_campaign(cases, tmp_path / "out", QUIET)
    failures = failed.value.failures
    assert {name: failure.exit_code for name, failure in failures.items()} == {"case 0": 1, "case 1": -9}
    said = str(failed.value).splitlines()
    assert said[0].startswith("2 runs failed; ")
    assert sorted(said[1:]) == [
        "case 0: ValueError: out of order (exit code 1)",
        "case 1: its process was killed by SIGKILL (too little memory?) (exit code -9)",
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["failed"].keys() == {"case 0", "case 1"}
    assert "out of" in manifest["failed"]["case 0"]["details"]

    (tmp_path / "mended").touch()
    outcomes = run_campaign(cases, tmp_path / "out", QUIET)
    assert {name: outcome["run"] for name, outcome in outcomes.items()} == {f"case {n}": 0 for n in range(6)}
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["failed"] == {}


def test_long_runs_come_first(tmp_path: Path) -> None:
    cases = [Costly(number, tmp_path, cost) for number, cost in enumerate((2.0, 9.0, 1.0, 5.0))]
    run_campaign(cases, tmp_path / "out", Execution(jobs=1, quiet=True))
    lines = (tmp_path / "out" / "runs.jsonl").read_text().splitlines()
    assert [json.loads(line)["case"] for line in lines] == ["case 1", "case 3", "case 0", "case 2"]


def test_progress_shows_done_and_remaining_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [Costly(number, tmp_path, 600.0) for number in range(3)]
    run_campaign(cases[:1], tmp_path / "out", Execution(jobs=1))
    assert capsys.readouterr().err == "1 run: 0 done, 1 left, about 10 min\n"
    run_campaign(cases, tmp_path / "out", Execution(jobs=1))
    # The measured one set the expected time.
    assert capsys.readouterr().err == "3 runs: 1 done, 2 left, about 0 s\n"
    run_campaign(cases, tmp_path / "out", Execution(jobs=1))
    assert capsys.readouterr().err == ""


def test_the_manifest_says_what_was_run_and_what_it_cost(tmp_path: Path) -> None:
    source = tmp_path / "input.swf"
    source.write_text("abc")
    run_campaign([Counting(1, tmp_path), Working(2, tmp_path, 8)], tmp_path / "out", QUIET, inputs=[source])
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["seeds"] == {"seed": [7, 8]}
    # `printf abc | sha256sum`
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert manifest["inputs"] == {str(source): digest}
    environment = manifest["environment"]
    assert environment.keys() == {"version", "git_revision", "python", "numpy", "scipy", "platform", "cores"}
    run = manifest["runs"]["case 2"]
    assert run["parameters"] == {"kind": "Working", "number": 2, "folder": str(tmp_path), "seed": 8}
    # Rounded to milliseconds; the start of the process does not count.
    assert WORK - 0.001 <= run["cpu_s"] < 10 * WORK
    assert run["wall_s"] >= run["cpu_s"] + WORK - 0.002
    assert run["peak_rss_bytes"] > 1_000_000
    assert run["started"] >= manifest["calls"][0]["started"]
    assert len(manifest["calls"]) == 1


def test_other_inputs_and_versions_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "input.swf", tmp_path / "out"
    source.write_text("abc")
    run_campaign([Counting(1, tmp_path)], out, QUIET, inputs=[source])
    source.write_text("abd")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["environment"]["numpy"] = "1.0"
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert capsys.readouterr().err == ""
    run_campaign([Counting(1, tmp_path)], out, QUIET, inputs=[source])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("warning: difference from the previous call: numpy: 1.0 before, now ")
    assert lines[1] == f"warning: difference from the previous call: input {source}: its content has changed"
    run_campaign([Counting(1, tmp_path)], out, QUIET, inputs=[source])
    assert capsys.readouterr().err == ""
    assert len(json.loads((out / "manifest.json").read_text())["calls"]) == 3


def test_the_same_name_with_other_parameters_is_refused(tmp_path: Path) -> None:
    run_campaign([Counting(1, tmp_path)], tmp_path / "out", QUIET)
    with pytest.raises(InputFileError, match=r"'case 1' was done with other parameters \(seed: 7 before, now 8\)"):
        run_campaign([Counting(1, tmp_path, 8)], tmp_path / "out", QUIET)
    with pytest.raises(InvalidValueError, match="two different runs have the name 'case 2'"):
        run_campaign([Counting(2, tmp_path), Counting(2, tmp_path, 8)], tmp_path / "out", QUIET)


def test_one_campaign_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with (out / ".lock").open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(InputFileError, match="another campaign is at work there"):
            run_campaign([Counting(1, tmp_path)], out, QUIET)
    assert run_campaign([Counting(1, tmp_path)], out, QUIET)["case 1"]["run"] == 0


def test_outcomes_without_a_manifest_are_kept(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"case": "case 1", "outcome": {"run": 5}}\n')
    assert run_campaign([Counting(1, tmp_path)], tmp_path, QUIET) == {"case 1": {"run": 5}}


def test_a_folder_with_something_else_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"other": 1}\n{"case": "a", "outcome": {}}\n')
    with pytest.raises(InputFileError, match=r"runs\.jsonl:1: is not an outcome"):
        run_campaign([Counting(0, tmp_path)], tmp_path, QUIET)
    (tmp_path / "runs.jsonl").unlink()
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(InputFileError, match=r"manifest\.json: is not a manifest"):
        run_campaign([Counting(0, tmp_path)], tmp_path, QUIET)
    (tmp_path / "file").touch()
    with pytest.raises(InputFileError, match="cannot be written"):
        run_campaign([Counting(0, tmp_path)], tmp_path / "file", QUIET)
    with pytest.raises(InputFileError, match=r"missing\.swf: cannot be read"):
        run_campaign([Counting(0, tmp_path)], tmp_path / "other", QUIET, inputs=[tmp_path / "missing.swf"])


def test_the_caller_decides_what_is_kept_of_an_outcome(tmp_path: Path) -> None:
    def keep(case: Case, outcome: dict[str, Any]) -> dict[str, Any]:
        (tmp_path / case.name).write_text(str(outcome["square"]))
        return {"run": outcome["run"]}

    assert run_campaign([Counting(3, tmp_path)], tmp_path / "out", QUIET, keep=keep) == {"case 3": {"run": 0}}
    assert (tmp_path / "case 3").read_text() == "9"


def test_whoever_stops_a_campaign_stops_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(case: Case, outcome: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        raise KeyboardInterrupt

    cases: list[Case] = [Interrupting(0, tmp_path), Counting(1, tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        run_campaign(cases, tmp_path / "out", QUIET, keep=stop)
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_incompatible_options_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="--jobs: does not go with --scheduler"):
        Execution(jobs=2, scheduler="tcp://127.0.0.1:8786")
    with pytest.raises(InvalidValueError, match="--jobs: must be at least 1, not 0"):
        Execution(jobs=0)
