"""Bars and images of a run: each holding is drawn once, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.reports.gantt_shapes import Bar, bars, holds_between, image
from lease_scheduler.simulation.result import Occupation, Phase, RunResult

ZERO = 500
LENGTH = 30
CAPACITIES = [4, 4, 2]
BLACK = (0.0, 0.0, 0.0)


def run(occupations: list[tuple[str, int, int, tuple[int, ...], tuple[int, ...]]]) -> RunResult:
    """Return a run of (lease id, start, end, hosts, VCPUs of each VM); instants count from the run's zero."""
    leases = {
        lease_id: Lease(
            LeaseRequest(
                lease_id,
                LeaseKind.BEST_EFFORT,
                tuple(NodeSet(1, Resources({"VCPU": v, "M": 1})) for v in vcpus),
                ZERO,
                9,
            ),
            number,
        )
        for number, (lease_id, _, _, _, vcpus) in enumerate(occupations)
    }
    return RunResult(
        workload_name="test",
        site=Site.of(Host(f"h{number}", Resources({"VCPU": vcpus})) for number, vcpus in enumerate(CAPACITIES)),
        leases=tuple(leases.values()),
        occupations=tuple(
            Occupation(lease_id, Phase.RUN, ZERO + start, ZERO + end, hosts)
            for lease_id, start, end, hosts, _ in occupations
        ),
        counters={},
        start=ZERO,
        end=ZERO + LENGTH,
        last_submission=ZERO,
        wall_s=0.0,
        peak_rss_bytes=0,
    )


def drawn(result: RunResult, begin: int = 0, end: int = LENGTH) -> list[Bar]:
    return bars(holds_between(result, begin, end), CAPACITIES)


@st.composite
def runs_within_capacity(draw: st.DrawFn) -> RunResult:
    """Draw occupations of one or two VMs that never exceed the capacity of a host."""
    free = np.repeat(np.array(CAPACITIES)[:, None], LENGTH, axis=1)
    occupations = []
    for number in range(draw(st.integers(0, 9))):
        start = draw(st.integers(0, LENGTH - 1))
        end = draw(st.integers(start + 1, LENGTH))
        hosts = tuple(draw(st.lists(st.integers(0, 2), min_size=1, max_size=2)))
        vcpus = tuple(draw(st.integers(1, CAPACITIES[host])) for host in hosts)
        left = free.copy()
        for host, amount in zip(hosts, vcpus, strict=True):
            left[host, start:end] -= amount
        if (left >= 0).all():
            free = left
            occupations.append((str(number), start, end, hosts, vcpus))
    return run(occupations)


def held_area(result: RunResult) -> dict[int, float]:
    """Return host-seconds by occupation, a VM counting as its share of its host."""
    demands = {lease.lease_id: [node.resources["VCPU"] for node in lease.request.nodes] for lease in result.leases}
    return {
        number: sum(
            (held.end - held.start) * vcpus / CAPACITIES[host]
            for host, vcpus in zip(held.assignment, demands[held.lease_id], strict=True)
        )
        for number, held in enumerate(result.occupations)
    }


@given(runs_within_capacity())
def test_bars_cover_what_is_held(result: RunResult) -> None:
    areas = dict.fromkeys(range(len(result.occupations)), 0.0)
    for bar in drawn(result):
        areas[bar.occupation] += (bar.end - bar.start) * (bar.top - bar.bottom)
    assert areas == pytest.approx(held_area(result))


@given(runs_within_capacity())
def test_bars_overlap_nowhere(result: RunResult) -> None:
    shapes = drawn(result)
    for number, one in enumerate(shapes):
        for other in shapes[number + 1 :]:
            width = min(one.end, other.end) - max(one.start, other.start)
            height = min(one.top, other.top) - max(one.bottom, other.bottom)
            assert width <= 0 or height <= 1e-9


@given(runs_within_capacity(), st.integers(1, 3), st.integers(1, 64))
def test_the_ink_of_an_image_equals_the_held_capacity(result: RunResult, rows: int, columns: int) -> None:
    """Whatever its resolution: an interval may end inside a pixel."""
    holds = holds_between(result, 0, LENGTH)
    colours = np.zeros((len(holds.occupations), 3))
    pixels = image(holds, CAPACITIES, colours, 0, LENGTH, (rows, columns))
    row_of_host = np.arange(3) * rows // 3
    capacity = np.bincount(row_of_host, weights=CAPACITIES, minlength=rows)
    ink = (1 - pixels[..., 0]).mean(axis=1) * capacity
    vcpu_seconds = np.zeros(3)
    demands = {lease.lease_id: [node.resources["VCPU"] for node in lease.request.nodes] for lease in result.leases}
    for held in result.occupations:
        for host, vcpus in zip(held.assignment, demands[held.lease_id], strict=True):
            vcpu_seconds[host] += vcpus * (held.end - held.start) / LENGTH
    assert ink == pytest.approx(np.bincount(row_of_host, weights=vcpu_seconds, minlength=rows), abs=1e-9)
    assert (pixels == pixels[..., :1]).all()


def test_neighbouring_whole_hosts_are_one_bar() -> None:
    assert drawn(run([("a", 3, 9, (1, 0), (4, 4))])) == [Bar(0, 0, 2, 3, 9)]
    assert drawn(run([("a", 3, 9, (0, 2), (4, 2))])) == [Bar(0, 0, 1, 3, 9), Bar(0, 2, 3, 3, 9)]


def test_vms_of_a_lease_on_one_host_are_one_bar() -> None:
    assert drawn(run([("a", 0, 5, (0, 0, 0), (1, 1, 1))])) == [Bar(0, 0, 0.75, 0, 5)]


def test_a_lease_keeps_its_height_from_phase_to_phase() -> None:
    result = run([("a", 0, 10, (0,), (1,)), ("b", 0, 10, (0,), (2,)), ("b", 10, 20, (0,), (2,))])
    assert [bar for bar in drawn(result) if bar.occupation] == [Bar(1, 0.25, 0.75, 0, 10), Bar(2, 0.25, 0.75, 10, 20)]


def test_without_a_gap_high_enough_a_vm_is_drawn_in_pieces() -> None:
    result = run(
        [("a", 0, 5, (0,), (1,)), ("b", 0, 20, (0,), (1,)), ("c", 0, 5, (0,), (2,)), ("d", 10, 20, (0,), (3,))]
    )
    assert [bar for bar in drawn(result) if bar.occupation == 3] == [Bar(3, 0, 0.25, 10, 20), Bar(3, 0.5, 1, 10, 20)]


def test_bars_of_an_overloaded_host_stay_within_it() -> None:
    result = run([("a", 0, 5, (0,), (3,)), ("b", 0, 5, (0,), (3,)), ("c", 0, 5, (0,), (2,))])
    assert drawn(result) == [Bar(0, 0, 0.75, 0, 5), Bar(1, 0.75, 1, 0, 5)]
    grey = np.full((3, 3), 0.5)
    pixels = image(holds_between(result, 0, 5), CAPACITIES, grey, 0, 5, (3, 1))
    assert pixels[:, 0, 0].tolist() == [0.5, 1, 1]


def test_a_window_cuts_off_what_lies_outside() -> None:
    result = run([("a", 0, 5, (0,), (4,)), ("b", 0, 12, (1,), (4,)), ("c", 15, 20, (2,), (2,))])
    assert drawn(result, 5, 15) == [Bar(0, 1, 2, 5, 12)]
    assert len(holds_between(result, 20, 30)) == 0


def test_pixels_mix_the_colours_of_what_they_show() -> None:
    result = run([("a", 0, 5, (0,), (4,)), ("b", 5, 20, (0,), (4,)), ("c", 0, 30, (1,), (2,))])
    red, blue = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    pixels = image(holds_between(result, 0, 30), CAPACITIES, np.array([red, blue, BLACK]), 0, 30, (3, 3))
    assert pixels[0] == pytest.approx(np.array([[0.5, 0, 0.5], blue, (1, 1, 1)]))
    assert pixels[1] == pytest.approx(np.full((3, 3), 0.5))
    assert pixels[2] == pytest.approx(np.ones((3, 3)))


def test_vms_without_vcpus_are_visible() -> None:
    request = LeaseRequest("a", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({"CUSTOM_BAREMETAL": 1})),), ZERO, 9)
    result = RunResult(
        "test",
        Site.homogeneous(1, Resources({"CUSTOM_BAREMETAL": 1})),
        (Lease(request, 0),),
        (Occupation("a", Phase.RUN, ZERO, ZERO + 9, (0,)),),
        {},
        ZERO,
        ZERO + 9,
        ZERO,
        0.0,
        0,
    )
    assert bars(holds_between(result, 0, 9), [1]) == [Bar(0, 0, 1, 0, 9)]
