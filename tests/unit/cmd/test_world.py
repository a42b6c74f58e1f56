"""``lease-sim world`` as scripts use it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lease_scheduler.cmd.lease_sim import main
from tests.unit.simulation.grid.worlds import LWF, WORLD


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "small.lwf").write_text(LWF)
    path = tmp_path / "world.conf"
    path.write_text(WORLD)
    return path


def test_a_world_runs_and_writes_its_results(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", str(world), "--output", str(tmp_path / "out")]) == 0

    printed = capsys.readouterr()
    assert "| north" in printed.out
    assert "| entry" in printed.out
    assert "Results: " in printed.err
    with (tmp_path / "out" / "requests.csv").open() as stream:
        first, second, third = csv.DictReader(stream)
    # Turns begin with north, which refuses the reservation for three nodes.
    assert (first["lease_id"], first["site"], first["state"]) == ("entry-1", "north", "done")
    assert (second["lease_id"], second["site"], second["asked"]) == ("entry-2", "south", "south")
    assert (third["lease_id"], third["site"], third["asked"]) == ("entry-3", "south", "north south")
    # North is twice as fast, so an hour of work takes half an hour; south answers after two messages of 2 s.
    assert (first["start"], first["end"], first["decided"]) == ("0", "1800", "0")
    assert second["decided"] == "604"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["gateways"]["entry"]["passed_on_again"] == 1
    assert summary["gateways"]["entry"]["sites"] == {"north": 1, "south": 2}
    assert summary["sites"]["south"]["external"] == 2
    assert (tmp_path / "out" / "north" / "leases.csv").exists()


def test_the_seed_of_the_command_line_counts(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", str(world), "--seed", "3", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["world", str(world), "--seed", "-1"]) == 2
    assert capsys.readouterr().err == "lease-sim: --seed: must be at least 0, not -1\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("hosts = 2 CPU:100,Memory:1024\n", "", 4, "[site north] hosts: is missing, and the workload names no hosts"),
        (
            "scheduling.suspension = none",
            "scheduling.suspensions = none",
            7,
            "[site north] set: scheduling.suspensions: there is no such option",
        ),
        (
            "scheduling.suspension = none",
            "scheduling.policy_mapper = gredy",
            7,
            "[site north] set: scheduling.policy_mapper: there is no policy 'gredy'",
        ),
        (
            "scheduling.suspension = none",
            "simulation.stop_when = besteffort-done",
            7,
            "[site north] set: simulation.stop_when: must be all-leases-done",
        ),
        ("workload = small.lwf", "workload = gone.lwf", None, "gone.lwf: cannot be read: No such file"),
    ],
)
def test_a_wrong_world_is_refused_in_one_line(
    world: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, line: int | None, problem: str
) -> None:
    assert WORLD.count(old) == 1
    world.write_text(WORLD.replace(old, new))
    assert main(["world", str(world)]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert problem in told
    if line is not None:
        assert told.startswith(f"lease-sim: {world}:{line}: ")
