"""The ten-column format of the author's reservations (haizea F27)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.old_lwf import read_old_lwf
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def _read(tmp_path: Path, text: str) -> Workload:
    path = tmp_path / "work.lwf"
    path.write_text(text)
    return read_old_lwf(path)


def test_a_line_is_a_reservation(tmp_path: Path) -> None:
    workload = _read(tmp_path, "# reservations\n\n3226 89626 3887 3000 16 2 1024 0 'NONE.img' 600\n")
    resources = Resources({"VCPU": 200, "MEMORY_MB": 1024})
    request = LeaseRequest(
        "1",
        LeaseKind.RESERVATION,
        (NodeSet(16, resources),),
        3_226,
        3_887,
        start=89_626,
        software=DiskImage("NONE.img", 600),
    )
    assert workload == Workload("work", (WorkloadLease(request, 3_000),))


@pytest.mark.parametrize(("real", "known"), [(99, 99), (100, None), (101, None), (0, 1)])
def test_a_real_duration_counts_only_if_shorter(tmp_path: Path, real: int, known: int | None) -> None:
    workload = _read(tmp_path, f"0 0 100 {real} 1 1 1024 0 'a' 600")
    assert workload.leases[0].real_duration == known


@pytest.mark.parametrize("start", ["NULL", "-1"])
def test_a_lease_without_start_is_best_effort(tmp_path: Path, start: str) -> None:
    request = _read(tmp_path, f"5 {start} 100 100 1 1 1024 0 'a' 600").leases[0].request
    assert (request.kind, request.start, request.preemptible) == (LeaseKind.BEST_EFFORT, None, True)


def test_negative_times_become_zero_and_ids_number_the_lines(tmp_path: Path) -> None:
    leases = _read(
        tmp_path, "9 9 9 9 1 1 1 0 'a' 1\n-114 86286 10 10 1 1 1 0 'a' 1\n0 -1602 9 9 1 1 1 0 'a' 1\n"
    ).leases
    assert [(each.request.lease_id, each.request.submitted, each.request.start) for each in leases] == [
        ("2", 0, 86_286),
        ("3", 0, 0),
        ("1", 9, 9),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 2 3", "a line has 10 of them, not 3"),
        ("x 0 100 100 1 1 1024 0 'a' 600", "submission (column 1): must be a whole number, not 'x'"),
        ("0 0 1.5 100 1 1 1024 0 'a' 600", "requested duration (column 3): must be a whole number, not '1.5'"),
        ("0 0 100 100 0 1 1024 0 'a' 600", "nodes.count: must be at least 1, not 0"),
        ("0 0 0 0 1 1 1024 0 'a' 600", "duration: must be at least 1 s"),
        ("0 0 100 100 1 -1 1024 0 'a' 600", "resources.VCPU: must be an integer of at least 0"),
        ("0 0 100 100 1 1 1024 0 'a' big", "image size (column 10): must be a whole number"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InputFileError) as error:
        _read(tmp_path, f"0 0 100 100 1 1 1024 0 'a' 600\n{line}\n")
    assert (error.value.path, error.value.line) == (str(tmp_path / "work.lwf"), 2)
    assert problem in error.value.problem


def test_the_72_sets_of_30_days(tmp_path: Path, unpack: Callable[[Path, Path], None]) -> None:
    """The author's reservations of 2008: 72 files, 28,198 leases, loads within 0.3 points of their names."""
    data = os.environ.get("LEASE_SCHEDULER_DATA")
    if not data:
        pytest.skip("LEASE_SCHEDULER_DATA is not set: no reservation files to read")
    unpack(Path(data) / "haizea" / "blue-injected-leases.tar.gz", tmp_path)
    workloads = [read_old_lwf(path) for path in sorted((tmp_path / "injected_leases" / "30days").iterdir())]
    assert (len(workloads), sum(len(workload.leases) for workload in workloads)) == (72, 28_198)
    for workload in workloads:
        requests = [lease.request for lease in workload.leases]
        assert {request.kind for request in requests} == {LeaseKind.RESERVATION}
        assert not any(request.preemptible for request in requests)
        assert [request.submitted for request in requests] == sorted(request.submitted for request in requests)
        load = sum(request.node_count * request.duration for request in requests) / (144 * 30 * 86_400)
        assert load == pytest.approx(int(workload.name[5:7]) / 100, abs=0.003)
