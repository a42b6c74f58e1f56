"""Workloads as SWF (haizea S13)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.swf import SwfOptions, read_swf
from lease_scheduler.simulation.formats.swf_writer import write_swf
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: (submission, requested time, run time, processors, memory MB, user)
_JOBS = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.integers(1, 10**6),
        st.integers(-1, 10**6),
        st.integers(1, 500),
        st.integers(1, 10**5),
        st.integers(-1, 50),
    ),
    min_size=1,
    max_size=8,
)


NODE = Resources({VCPU: 100, MEMORY_MB: 512})


def _lease(lease_id: str = "1", kind: LeaseKind = LeaseKind.BEST_EFFORT, **terms: object) -> WorkloadLease:
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(2, NODE),), 10, 60)
    return WorkloadLease(replace(request, kind=kind, **terms), 30)  # type: ignore[arg-type]


@given(_JOBS)
def test_a_log_that_is_written_is_read_again(jobs: list[tuple[int, int, int, int, int, int]]) -> None:
    """Including the run time of jobs that exceeded their request, and the other fields of the log."""
    lines = [
        f"{number} {submitted} 7 {run} {processors} 3.5 -1 {processors} {requested} {memory * 1024} 1 {user} 4 5 6"
        " -1 -1 -1"
        for number, (submitted, requested, run, processors, memory, user) in enumerate(jobs, start=1)
    ]
    options = SwfOptions(memory_mb=None)
    with TemporaryDirectory() as scratch:
        first, second = Path(scratch, "log.swf"), Path(scratch, "again", "log.swf.gz")
        second.parent.mkdir()
        first.write_text("; log\n" + "".join(f"{line}\n" for line in lines))
        workload = read_swf(first, options)
        write_swf(workload, second)
        again = read_swf(second, options)
    assert again.leases == workload.leases
    assert again.name == workload.name


def test_a_file_has_a_header_and_a_line_for_each_lease(tmp_path: Path) -> None:
    site = Site.homogeneous(3, Resources({VCPU: 400, MEMORY_MB: 2048}))
    write_swf(Workload("of a\nday", (_lease(user="anna"), _lease("2", user="bert")), site), tmp_path / "a.swf")
    assert (tmp_path / "a.swf").read_text().splitlines() == [
        "; Version: 2.2",
        "; Note: workload of a day",
        "; MaxJobs: 2",
        "; MaxNodes: 3",
        "; MaxProcs: 12",
        "1 10 -1 30 2 -1 -1 2 60 524288 1 1 -1 -1 -1 -1 -1 -1",
        "2 10 -1 30 2 -1 -1 2 60 524288 1 2 -1 -1 -1 -1 -1 -1",
    ]


@pytest.mark.parametrize(
    ("lease", "problem"),
    [
        (_lease(kind=LeaseKind.RESERVATION, start=20), "lease 1: is reservation; SWF knows only jobs"),
        (_lease("first"), "lease first: must have a number as its id"),
        (_lease(nodes=(NodeSet(1, Resources({VCPU: 150})),)), r"lease 1: needs 1\.5 cores"),
        (_lease(nodes=(NodeSet(1, Resources({MEMORY_MB: 1})),)), "lease 1: needs 0 cores"),
    ],
)
def test_leases_that_swf_cannot_represent_are_refused(lease: WorkloadLease, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        write_swf(Workload("x", (lease,)), tmp_path / "x.swf")
    assert not (tmp_path / "x.swf").exists()
