"""``lease-sim capacity`` (prediction A12, A13, A14, A17)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lease_scheduler.cmd import lease_sim


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Seventy days on which an instance of twelve cores runs for two hours, and on each tenth one of forty-eight."""
    lines = []
    for day in range(70):
        cores = 48 if day % 10 == 9 else 12
        lines += [f"START {day * 86_400} i-{day} node {cores}", f"STOP {day * 86_400 + 7_200} i-{day}"]
    path = tmp_path / "trace.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_says_what_can_go_and_what_is_not_known(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lease_sim.main(["capacity", str(trace), "--hosts", "6", "--cores", "12"]) == 0
    said = capsys.readouterr().out
    assert "6 hosts, 70 days with use, 140 hours" in said
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines() if line.startswith("|")]
    assert [row[:4] for row in rows if row[0] in ("0.9", "0.95", "0.99")] == [
        ["0.9", "4", "2", "0"],
        ["0.95", "4", "2", "0"],
        ["0.99", "?", "?", "?"],
    ]
    assert "The history is too short for 0.99: that takes 299 days with use, and this one has 70." in said


def test_json_and_a_plot(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hosts that are missing are negative in ``can_go``."""
    options = ["--hosts", "3", "--cores", "12", "--promise", "0.95", "--json", "--plot", str(tmp_path / "plot.png")]
    assert lease_sim.main(["capacity", str(trace), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["hosts"], found["days"], found["highest"]) == (3, 70, 4.0)
    (need,) = found["promises"]
    assert (need["hosts"], need["can_go"], need["least_days"]) == (4, -1, 59)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_load_that_grows_is_warned_of(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--hosts", "6", "--cores", "12"]
    assert lease_sim.main(["capacity", str(trace), *options]) == 0
    assert "The load grows" not in capsys.readouterr().out
    lines = []
    for day in range(70):
        lines += [f"START {day * 86_400} i-{day} node {12 + day // 7}", f"STOP {day * 86_400 + 7_200} i-{day}"]
    grown = tmp_path / "grown.txt"
    grown.write_text("\n".join(lines) + "\n")
    assert lease_sim.main(["capacity", str(grown), *options]) == 0
    said = capsys.readouterr().out
    assert "The load grows: the highest demand of a day was 1.2 hosts (median) in the older half" in said
    assert "and 1.6 in the newer one" in said
    assert lease_sim.main(["capacity", str(grown), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trend"]["grows"] is True


def test_use_of_next_to_nothing_is_reported_as_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("START 0 i-0 node 1\nSTOP 7200 i-0\n")
    assert lease_sim.main(["capacity", str(path), "--hosts", "6", "--cores", str(10**10)]) == 0
    assert "6 hosts, 0 days with use, 0 hours; 0.0 hosts in use" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hosts", "0"], "--hosts: must be at least 1, not 0"),
        (["--hosts", "3", "--cores", "-1"], "--cores: must be at least 1, not -1"),
        (["--hosts", "3"], "trace.txt:1: is a trace of instances; say --cores, how many cores a host has"),
        (
            ["--hosts", "3", "--cores", "12", "--promise", "1"],
            "promise: must be more than 0 and at most 0.9999",
        ),
        (["--hosts", "3", "--cores", "12", "--confidence", "2"], "confidence: must be more than 0"),
        (["--hosts", "3", "--cores", "12", "--plot", "a.gif"], "path: must end in .png or .svg"),
    ],
)
def test_wrong_options_are_named(
    trace: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lease_sim.main(["capacity", str(trace), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("lease-sim: ")
    assert message in error
    assert error.count("\n") == 1


def test_a_bad_line_is_named(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace.write_text(trace.read_text().replace("STOP 7200 i-0", "STOP soon i-0"))
    assert lease_sim.main(["capacity", str(trace), "--hosts", "3", "--cores", "12"]) == 2
    assert "trace.txt:2: seconds must be a whole number" in capsys.readouterr().err
