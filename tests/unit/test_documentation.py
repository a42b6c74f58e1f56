"""What the documentation shows works."""

from __future__ import annotations

import csv
from pathlib import Path

from lease_scheduler.cmd import lease_sim

USER_PAGES = Path(__file__).parents[2] / "doc" / "source" / "user"


def test_the_example_workload_of_the_simulator_page(tmp_path: Path) -> None:
    """haizea F24, F25: a best-effort lease makes room for the reservation and is resumed after it."""
    assert lease_sim.main(["run", str(USER_PAGES / "example.lwf"), "--quiet", "--output", str(tmp_path)]) == 0
    with (tmp_path / "leases.csv").open(newline="") as file:
        best_effort, reservation = csv.DictReader(file)
    assert (reservation["kind"], reservation["state"]) == ("reservation", "done")
    assert (reservation["start"], reservation["end"]) == ("3900", "5700")
    assert (best_effort["kind"], best_effort["state"], best_effort["start"]) == ("best-effort", "done", "0")
    assert int(best_effort["end"]) > 5700
    assert best_effort["accumulated"] == "4200"
