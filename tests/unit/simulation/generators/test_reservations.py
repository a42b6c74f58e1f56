"""Sets of advance reservations (haizea F87, sections 4.20 and 6.4)."""

from __future__ import annotations

import dataclasses
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.generators.distributions import Constant, DiscreteUniform, Uniform
from lease_scheduler.simulation.generators.reservations import (
    ReservationRules,
    ReservationSet,
    generate_by_rules,
    generate_reservations,
    preset,
    preset_by_name,
    presets,
)
from lease_scheduler.simulation.workload import Workload

SPAN = 2_592_000
NODE = Resources({VCPU: 100, MEMORY_MB: 1024})


def reserved(workload: Workload) -> int:
    return sum(lease.request.node_count * lease.request.duration for lease in workload.leases)


def rules(**changes: object) -> ReservationRules:
    base = ReservationRules(
        name="r",
        site=Site.homogeneous(10, NODE),
        resources=NODE,
        nodes=DiscreteUniform(1, 4),
        duration=Uniform(100, 200),
        interval=Constant(0),
        span=10_000,
        utilisation=0.5,
    )
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "expected", "low", "high"), [("T10", 71.0, 64, 79), ("T20", 189.4, 178, 201), ("T30", 426.0, 405, 447)]
)
def test_a_set_has_the_published_number_of_reservations(name: str, expected: float, low: int, high: int) -> None:
    """haizea 5.1: T10 has 70-73, T20 183-195 and T30 424-430 reservations with the seeds tried there."""
    counts = [len(generate_reservations(preset_by_name(name), seed).leases) for seed in range(12)]
    assert np.mean(counts) == pytest.approx(expected, rel=0.02)
    assert low <= min(counts)
    assert max(counts) <= high
    assert len(set(counts)) > 1


def test_each_reservation_follows_the_definition() -> None:
    """haizea 4.20: sizes, durations, notice, intervals and the point at which the set ends."""
    workload = generate_reservations(preset_by_name("T20"), 1)
    requests = [lease.request for lease in workload.leases]
    mean = SPAN // len(requests)
    assert 0.20 * 144 * SPAN <= reserved(workload) < 0.20 * 144 * SPAN + 48 * 3.5 * 3600
    assert [request.lease_id for request in requests] == [str(number + 1) for number in range(len(requests))]
    previous = 0
    for request in requests:
        assert request.kind is LeaseKind.RESERVATION
        assert not request.preemptible
        assert request.start is not None
        assert request.submitted == max(0, request.start - 86_400)
        assert 25 <= request.node_count <= 48
        assert 3 * 3600 - 1800 <= request.duration <= 3 * 3600 + 1800
        assert request.nodes[0].resources == NODE
        assert mean <= request.start - previous < mean + 60
        previous = request.start
    assert all(lease.real_duration is None for lease in workload.leases)
    assert workload.site == Site.homogeneous(144, NODE)
    assert workload.attributes == {"utilization": "20", "numnodes": "medium", "duration": "3h", "seed": "1"}


def test_sizes_and_durations_are_uniform() -> None:
    requests = [lease.request for lease in generate_reservations(preset(30, 1, "small"), 3).leases]
    nodes = np.bincount([request.node_count for request in requests], minlength=25)[1:]
    assert stats.chisquare(nodes).pvalue > 0.01
    assert stats.kstest([request.duration for request in requests], stats.uniform(1800, 3600).cdf).pvalue > 0.01


def test_an_hour_of_jitter_keeps_the_order_of_requests() -> None:
    """haizea 8.1 item 2: the reading with an hour to either side."""
    hour = dataclasses.replace(preset(30, 1, "small"), jitter_min=-3600, jitter_max=3600)
    workload = generate_reservations(hour, 5)
    starts = [lease.request.start or 0 for lease in workload.leases]
    arrivals = [lease.request.submitted for lease in workload.leases]
    assert arrivals == sorted(arrivals)
    assert starts == sorted(starts)
    assert min(np.diff(starts)) < SPAN // len(starts) - 60


def test_a_set_may_have_a_given_number_of_reservations() -> None:
    """haizea F87: a number of reservations instead of a share of the site."""
    workload = generate_reservations(dataclasses.replace(preset_by_name("T20"), count=17), 2)
    assert len(workload.leases) == 17
    assert workload.last_submission <= SPAN - 86_400 + 17 * 60


@given(st.integers(0, 2**63), st.sampled_from(sorted(presets())))
@settings(max_examples=10)
def test_same_seed_gives_the_same_set(seed: int, name: str) -> None:
    first, second = (generate_reservations(preset_by_name(name), seed) for _ in range(2))
    assert first == second


def test_other_seed_gives_another_set() -> None:
    assert (
        generate_reservations(preset_by_name("T10"), 1).leases != generate_reservations(preset_by_name("T10"), 2).leases
    )


def test_another_law_of_nodes_leaves_the_durations() -> None:
    few = generate_by_rules(rules(utilisation=None, count=20), 1)
    many = generate_by_rules(rules(utilisation=None, count=20, nodes=DiscreteUniform(5, 9)), 1)
    assert [lease.request.duration for lease in few.leases] == [lease.request.duration for lease in many.leases]
    assert [lease.request.node_count for lease in few.leases] != [lease.request.node_count for lease in many.leases]


def test_a_law_may_have_its_own_seed() -> None:
    plain = generate_by_rules(rules(utilisation=None, count=20), 1)
    seeded = generate_by_rules(rules(utilisation=None, count=20), 1, {"nodes": 2})
    assert [lease.request.duration for lease in plain.leases] == [lease.request.duration for lease in seeded.leases]
    assert [lease.request.node_count for lease in plain.leases] != [lease.request.node_count for lease in seeded.leases]


@given(st.floats(0.01, 2), st.integers(50, 400), st.integers(0, 1000))
def test_set_ends_with_the_reservation_that_reaches_the_share(share: float, half_core: int, seed: int) -> None:
    """haizea 4.20: counted in VCPU, so nodes smaller than a host count less."""
    node = Resources({VCPU: half_core, MEMORY_MB: 1})
    workload = generate_by_rules(rules(utilisation=share, resources=node), seed)
    work = [lease.request.total(VCPU) * lease.request.duration for lease in workload.leases]
    assert sum(work) >= share * 10 * 100 * 10_000 > sum(work) - max(work)


def test_without_a_span_starts_follow_from_the_intervals() -> None:
    """haizea 9.2: numleases of type interval."""
    workload = generate_by_rules(rules(utilisation=None, count=3, span=None, interval=Constant(90.9)), 1)
    assert [lease.request.start for lease in workload.leases] == [90, 180, 270]
    assert [lease.request.submitted for lease in workload.leases] == [90, 180, 270]


def test_presets_are_the_72_sets_and_three_names() -> None:
    """haizea 6.4: the naming of the sets."""
    names = set(presets())
    assert len(names) == 75
    assert {"U5_Nsmall_D1h", "U30_Nlarge_D4h", "T10", "T20", "T30"} <= names
    assert preset_by_name("t10") == preset_by_name("U10_Nmedium_D4h") == preset(10, 4, "medium")
    assert preset_by_name("t20") == preset(20, 3, "medium")
    assert preset_by_name("T30") == preset(30, 2, "medium")
    assert preset(5, 1, "small").name == "U5_Nsmall_D1h"
    assert (preset(5, 1, "large").nodes_min, preset(5, 1, "large").nodes_max) == (49, 72)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((12, 1, "small"), "utilisation"), ((5, 5, "small"), "hours"), ((5, 1, "huge"), "size")],
)
def test_unknown_preset_is_refused(arguments: tuple[int, int, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        preset(*arguments)


def test_unknown_preset_name_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="there is none named 'T40'; use T10"):
        preset_by_name("T40")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"utilisation": 0.0}, "utilisation"),
        ({"utilisation": float("nan")}, "utilisation"),
        ({"nodes_min": 0}, "nodes"),
        ({"nodes_max": 145}, "nodes_max"),
        ({"nodes_min": 50, "nodes_max": 40}, "min"),
        ({"duration_spread": 10_800}, "duration_spread"),
        ({"span": 0}, "span"),
        ({"notice": -1}, "notice"),
        ({"count": 0}, "count"),
        ({"jitter_min": 61}, "min"),
        ({"vcpu": 0}, "utilisation"),
        ({"hosts": 0, "nodes_max": 0, "nodes_min": 0}, "hosts"),
    ],
    ids=str,
)
def test_impossible_set_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        dataclasses.replace(preset_by_name("T20"), **changes)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"count": 3}, "count"),
        ({"utilisation": None}, "count"),
        ({"span": None}, "span"),
        ({"duration": Uniform(0, 10)}, "duration"),
    ],
    ids=str,
)
def test_impossible_rules_are_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        rules(**changes)
    assert caught.value.field == field


def test_defaults_are_those_of_the_month_of_144_hosts() -> None:
    """haizea 5.1: 144 hosts, 30 days, half an hour to either side, 24 h notice."""
    plain = ReservationSet(0.2, 25, 48, 10_800)
    assert (plain.hosts, plain.span, plain.duration_spread, plain.notice) == (144, SPAN, 1800, 86_400)
    assert (plain.jitter_min, plain.jitter_max) == (0, 60)


@pytest.mark.skipif(
    "LEASE_SCHEDULER_DATA" not in os.environ, reason="needs the recorded data; set LEASE_SCHEDULER_DATA to its folder"
)
def test_recorded_sets_follow_the_same_definition() -> None:
    """haizea 6.4: the 2008 sets (an hour of jitter) have the number of reservations that the definition gives."""
    archive = Path(os.environ["LEASE_SCHEDULER_DATA"]) / "haizea" / "blue-injected-leases.tar.gz"
    with tarfile.open(archive) as tar:
        for share, hours, number, size in ((10, 4, 2, "medium"), (20, 3, 2, "medium"), (30, 1, 1, "small")):
            name = f"injected_leases/30days/work_{share:02}-dur_{hours}h-size_{number}{size}.lwf"
            stream = tar.extractfile(name)
            assert stream is not None
            rows = [line.split() for line in stream.read().decode().splitlines() if line.strip()]
            counts = [len(generate_reservations(preset(share, hours, size), seed).leases) for seed in range(5)]
            assert len(rows) == pytest.approx(np.mean(counts), rel=0.08)
            nodes = {int(float(row[4])) for row in rows}
            low, high = (preset(share, hours, size).nodes_min, preset(share, hours, size).nodes_max)
            assert low <= min(nodes)
            assert max(nodes) <= high
