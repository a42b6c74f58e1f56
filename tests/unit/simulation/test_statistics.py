"""Figures about workloads (haizea F86, sections 4.20 and 6.1)."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

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
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.shipped import load_workload, shipped_path
from lease_scheduler.simulation.statistics import Share, describe
from lease_scheduler.simulation.workload import Workload, WorkloadLease

MONTH = 2_592_000
NODE = Resources({VCPU: 100, MEMORY_MB: 1024})

needs_data = pytest.mark.skipif(
    "LEASE_SCHEDULER_DATA" not in os.environ, reason="needs the recorded data; set LEASE_SCHEDULER_DATA to its folder"
)


def lease(
    number: int,
    submitted: int,
    nodes: int,
    duration: int,
    real: int | None = None,
    user: str | None = None,
    kind: LeaseKind = LeaseKind.BEST_EFFORT,
    **extras: str,
) -> WorkloadLease:
    request = LeaseRequest(
        str(number),
        kind,
        (NodeSet(nodes, NODE),),
        submitted,
        duration,
        start=submitted if kind is LeaseKind.RESERVATION else None,
        preemptible=kind is LeaseKind.BEST_EFFORT,
        user=user,
        extras=extras,
    )
    return WorkloadLease(request, real)


def workload_of(*leases: WorkloadLease, hosts: int | None = 10) -> Workload:
    return Workload("small", leases, None if hosts is None else Site.homogeneous(hosts, NODE))


def test_statistics_count_leases_users_and_classes() -> None:
    statistics = describe(
        workload_of(
            lease(1, 5, 1, 60, user="a"),
            lease(2, 5, 4, 3600, user="b"),
            lease(3, 20, 5, 3601, user="a"),
            lease(4, 30, 70, 100_000, user="-1", kind=LeaseKind.RESERVATION),
            lease(5, 35, 2, 61),
        )
    )
    assert statistics.leases == 5
    assert statistics.kinds == {"best-effort": 4, "reservation": 1}
    assert statistics.preemptible == 4
    assert statistics.users == 2
    assert (statistics.first_submission, statistics.last_submission) == (5, 35)
    assert statistics.at_most_4_nodes == pytest.approx(0.6)
    assert statistics.at_most_1_hour == pytest.approx(0.6)
    assert statistics.node_classes == (
        Share("1", 1),
        Share("2-4", 2),
        Share("5-8", 1),
        Share("9-16", 0),
        Share("17-32", 0),
        Share("33-64", 0),
        Share("65 or more", 1),
    )
    assert [share.count for share in statistics.duration_classes] == [1, 1, 1, 1, 0, 0, 1]
    gaps = statistics.interarrival
    assert gaps is not None
    assert (gaps.mean, gaps.minimum, gaps.maximum) == (7.5, 0, 15)
    assert gaps.quantiles == pytest.approx((0.75, 1.5, 3.75, 7.5, 11.25, 13.5, 14.25, 14.85))
    assert statistics.recorded_wait is None
    assert statistics.recorded_slowdown is None
    assert statistics.overruns == 0


def test_loads_are_those_computed_by_hand() -> None:
    """The three figures on 10 hosts and 1,000 s: a lease within, one cut by its request, one beyond the window."""
    statistics = describe(
        workload_of(
            lease(1, 0, 2, 100, real=40),
            lease(2, 100, 4, 200, SWF_runtime="300", SWF_waittime="7"),
            lease(3, 900, 1, 500),
        ),
        window=1000,
    )
    load = statistics.load
    assert load is not None
    assert (load.hosts, load.window) == (10, 1000)
    assert load.full == pytest.approx((2 * 40 + 4 * 300 + 500) / 10_000)
    assert load.clipped == pytest.approx((2 * 40 + 4 * 200 + 100) / 10_000)
    assert load.without_ramp_up == pytest.approx((4 * 300 + 100) / 10_000)
    assert statistics.overruns == 1
    assert statistics.actual.maximum == 500


def test_reservations_count_from_their_start() -> None:
    request = dataclasses.replace(lease(1, 0, 1, 100, kind=LeaseKind.RESERVATION).request, start=950)
    load = describe(workload_of(WorkloadLease(request)), window=1000).load
    assert load is not None
    assert load.full == pytest.approx(100 / 10_000)
    assert load.clipped == load.without_ramp_up == pytest.approx(50 / 10_000)


def test_recorded_waits_have_mean_and_slowdown() -> None:
    """haizea 4.20: run times below 10 s count as 10 s; -1 and texts are not waiting times."""
    statistics = describe(
        workload_of(
            lease(1, 0, 1, 100, SWF_waittime="30", SWF_runtime="2"),
            lease(2, 0, 1, 100, SWF_waittime="20", SWF_runtime="20"),
            lease(3, 0, 1, 100, SWF_waittime="-1", SWF_runtime="20"),
            lease(4, 0, 1, 100, SWF_waittime="x", SWF_runtime="20"),
            lease(5, 0, 1, 100, SWF_waittime="20", SWF_runtime="nan"),
        )
    )
    assert statistics.recorded_wait is not None
    assert statistics.recorded_slowdown is not None
    assert (statistics.recorded_wait.minimum, statistics.recorded_wait.maximum) == (20, 30)
    assert (statistics.recorded_slowdown.minimum, statistics.recorded_slowdown.maximum) == (2, 4)


def test_window_is_the_last_submission_in_whole_days() -> None:
    load = describe(workload_of(lease(1, 0, 1, 10), lease(2, 86_401, 1, 10))).load
    assert load is not None
    assert load.window == 2 * 86_400


def test_without_a_site_or_a_window_there_is_no_load() -> None:
    assert describe(workload_of(lease(1, 9, 1, 10), hosts=None)).load is None
    assert describe(workload_of(lease(1, 0, 1, 10))).load is None
    assert describe(workload_of(lease(1, 0, 1, 10))).interarrival is None


def test_load_is_a_share_of_the_cores() -> None:
    """A node of half a host is half the work."""
    site = Site.homogeneous(10, Resources({VCPU: 200, MEMORY_MB: 1024}))
    load = describe(dataclasses.replace(workload_of(lease(1, 9, 4, 50)), site=site), window=100).load
    assert load is not None
    assert load.full == pytest.approx(4 * 50 / (2 * 10 * 100))


@pytest.mark.parametrize(
    ("workload", "window", "field"),
    [(workload_of(), None, "workload"), (workload_of(lease(1, 0, 1, 1)), 0, "length")],
)
def test_a_workload_without_leases_or_length_is_refused(workload: Workload, window: int | None, field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        describe(workload, window)
    assert caught.value.field == field


@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.integers(1, 100), st.integers(1, 900), st.integers(1, 900)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 1000),
)
def test_loads_are_ordered_and_histograms_add_up(rows: list[tuple[int, int, int, int]], window: int) -> None:
    rows.sort()
    leases = (lease(n, at, nodes, length, real=min(real, length)) for n, (at, nodes, length, real) in enumerate(rows))
    statistics = describe(workload_of(*leases), window)
    load = statistics.load
    assert load is not None
    assert 0 <= load.without_ramp_up <= load.clipped + 1e-12
    assert load.clipped <= load.full + 1e-12
    assert sum(share.count for share in statistics.node_classes) == len(rows)
    assert sum(share.count for share in statistics.duration_classes) == len(rows)
    for spread in (statistics.nodes, statistics.requested, statistics.actual):
        ordered = [spread.minimum, *spread.quantiles, spread.maximum]
        assert ordered == sorted(ordered)


def test_figures_become_json() -> None:
    text = json.dumps(dataclasses.asdict(describe(workload_of(lease(1, 9, 1, 10)))))
    assert json.loads(text)["load"]["hosts"] == 10


def test_blue1_has_the_published_figures() -> None:
    """haizea 6.1: the shipped month; 70.38, 69.60 and 67.10 % of the 144 hosts."""
    statistics = describe(load_workload("blue1"), MONTH)
    assert statistics.leases == 5_108
    assert statistics.users == 93
    assert statistics.overruns == 512
    assert statistics.at_most_1_hour == pytest.approx(0.6686, abs=5e-5)
    assert statistics.at_most_4_nodes == pytest.approx(0.6410, abs=5e-5)
    assert statistics.load is not None
    assert statistics.load.hosts == 144
    assert statistics.load.full == pytest.approx(0.7038, abs=5e-5)
    assert statistics.load.clipped == pytest.approx(0.6960, abs=5e-5)
    assert statistics.load.without_ramp_up == pytest.approx(0.6710, abs=5e-5)
    assert statistics.nodes.maximum == 140
    assert statistics.requested.mean == pytest.approx(12_299, abs=1)
    assert statistics.actual.mean == pytest.approx(4_455, abs=1)
    assert statistics.interarrival is not None
    assert statistics.interarrival.mean == pytest.approx(507, abs=1)
    assert describe(load_workload("blue1")) == statistics


def test_blue1_is_what_the_plain_reader_reads() -> None:
    assert load_workload("blue1").leases == read_swf(shipped_path("blue1")).leases


@needs_data
@pytest.mark.parametrize(
    ("file", "options", "leases", "users", "full", "without_ramp_up"),
    [
        ("BLUE2.swf.gz", SwfOptions(begin=70_154_553, scale=8, nodes=144), 4_949, 122, 0.9034, 0.8582),
        (
            "DS.swf.gz",
            SwfOptions(begin=4_293_741, scale=8, nodes=164, queues=frozenset({2, 3})),
            5_269,
            118,
            0.8448,
            0.6045,
        ),
    ],
    ids=["BLUE2", "DS"],
)
def test_recorded_months_have_the_published_figures(
    file: str, options: SwfOptions, leases: int, users: int, full: float, without_ramp_up: float
) -> None:
    """haizea 6.1 and 8.1 item 4."""
    statistics = describe(read_swf(Path(os.environ["LEASE_SCHEDULER_DATA"]) / "windows" / file, options), MONTH)
    assert (statistics.leases, statistics.users) == (leases, users)
    assert statistics.load is not None
    assert statistics.load.full == pytest.approx(full, abs=5e-5)
    assert statistics.load.without_ramp_up == pytest.approx(without_ramp_up, abs=5e-5)


def test_a_set_of_reservations_has_the_share_of_its_name() -> None:
    """haizea F87: T20 requests 20 % of 144 hosts and 30 days."""
    load = describe(generate_reservations(preset_by_name("T20"), 4), MONTH).load
    assert load is not None
    assert load.full == pytest.approx(0.20, abs=0.0016)
