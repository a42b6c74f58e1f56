"""A run on four hosts with every kind of lease and every phase."""

from __future__ import annotations

import pytest

from lease_scheduler.model.grant import Grant
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.result import Occupation, Phase, RunResult

WHOLE = NodeSet(1, Resources({"VCPU": 100, "MEMORY_MB": 1024}))
HALF = NodeSet(1, Resources({"VCPU": 50, "MEMORY_MB": 512}))
ZERO = 10_000


@pytest.fixture
def four_hosts() -> RunResult:
    """The run. Instants of its leases count from another epoch than the run's zero."""
    best_effort = LeaseRequest("b1", LeaseKind.BEST_EFFORT, (WHOLE, WHOLE), ZERO, 4_000, user="ann")
    reservation = LeaseRequest("r1", LeaseKind.RESERVATION, (WHOLE,) * 4, ZERO + 60, 3_000, start=ZERO + 3_600)
    deadline = LeaseRequest(
        "d1",
        LeaseKind.DEADLINE,
        (WHOLE,),
        ZERO + 120,
        1_000,
        start=ZERO + 600,
        deadline=ZERO + 9_000,
        extras={"simul_start_delta": "480.00", "SWF_queue": "2"},
    )
    immediate = LeaseRequest("i1", LeaseKind.IMMEDIATE, (HALF,), ZERO + 7_000, 500)
    rejected = LeaseRequest("r2", LeaseKind.RESERVATION, (WHOLE,) * 4, ZERO + 7_000, 500, start=ZERO + 7_100)
    return RunResult(
        workload_name="four hosts",
        site=Site.homogeneous(4, Resources({"VCPU": 100, "MEMORY_MB": 1024})),
        leases=(
            Lease(best_effort, 1, LeaseState.DONE, 4_000, ZERO, ZERO + 8_000),
            Lease(reservation, 2, LeaseState.DONE, 3_000, ZERO + 3_600, ZERO + 6_600, grant=Grant(price=2.5)),
            Lease(deadline, 3, LeaseState.DONE, 1_000, ZERO + 900, ZERO + 1_900),
            Lease(immediate, 4, LeaseState.CANCELLED, 300, ZERO + 7_000, ZERO + 7_300, reason="by its user, early"),
            Lease(rejected, 5, LeaseState.REJECTED, ended=ZERO + 7_000, reason='no room: "host-1" is held'),
        ),
        occupations=(
            Occupation("d1", Phase.RUN, ZERO + 900, ZERO + 1_900, (3,)),
            Occupation("b1", Phase.RUN, ZERO, ZERO + 3_000, (0, 1)),
            Occupation("b1", Phase.SUSPEND, ZERO + 3_000, ZERO + 3_600, (0, 1)),
            Occupation("r1", Phase.RUN, ZERO + 3_600, ZERO + 6_600, (0, 1, 2, 3)),
            Occupation("r1", Phase.SHUTDOWN, ZERO + 6_600, ZERO + 6_620, (0, 1, 2, 3)),
            Occupation("b1", Phase.RESUME, ZERO + 6_620, ZERO + 7_000, (2, 3)),
            Occupation("i1", Phase.RUN, ZERO + 7_000, ZERO + 7_300, (0,)),
            Occupation("b1", Phase.RUN, ZERO + 7_000, ZERO + 8_000, (2, 3)),
        ),
        counters={"suspensions": 1, "resumptions": 1, "migrations": 1, "early_ends": 0},
        start=ZERO,
        end=ZERO + 8_000,
        last_submission=ZERO + 7_000,
        wall_s=0.25,
        peak_rss_bytes=64 * 2**20,
    )
