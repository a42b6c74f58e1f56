"""Traces with semicolons (haizea, section 1.4: haizea-csv2lwf)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.workload_file import read_workload

TRACE = """\
100;a;b;c;4;512;d;e;NULL;600;300
50;a;b;c;2;1024;d;e;3600;900;900;rest
"""


def test_reservations_and_best_effort_leases_are_read(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(TRACE)
    workload = read_workload(tmp_path / "old.csv")
    assert workload.name == "old"
    reservation, best_effort = workload.leases
    assert (best_effort.request.kind, best_effort.request.preemptible) == (LeaseKind.BEST_EFFORT, True)
    assert (best_effort.request.duration, best_effort.real_duration, best_effort.request.lease_id) == (600, 300, "1")
    assert best_effort.request.nodes[0].resources == Resources({VCPU: 100, MEMORY_MB: 512})
    assert (reservation.request.kind, reservation.request.preemptible) == (LeaseKind.RESERVATION, False)
    assert (reservation.request.submitted, reservation.request.start) == (50, 50 + 3600)
    assert (reservation.request.node_count, reservation.real_duration) == (2, None)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("3600", "-5", r"start \(column 9\): must be a whole number"),
        ("900;900;rest", "900", r"columns: a line has at least 11 of them, not 10"),
        (";2;", ";0;", r"nodes \(column 5\): must be a whole number of at least 1"),
        ("50;", "x;", r"submission \(column 1\): must be"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    first, second = TRACE.splitlines(keepends=True)
    (tmp_path / "old.csv").write_text(first + second.replace(old, new, 1))
    with pytest.raises(InputFileError, match=f":2: {problem}"):
        read_workload(tmp_path / "old.csv")
