"""Overheads of virtual machines (haizea F75, F76; section 8.1, item 12)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.overheads import OverheadOptions, apply_overheads
from lease_scheduler.simulation.workload import Workload, WorkloadLease

NODES = (NodeSet(2, Resources({"VCPU": 100, "MEMORY_MB": 1024})), NodeSet(1, Resources({"VCPU": 50})))
BEST_EFFORT = LeaseRequest("1", LeaseKind.BEST_EFFORT, NODES, 0, 1_000)
RESERVATION = LeaseRequest("2", LeaseKind.RESERVATION, NODES, 0, 1_000, start=500)
DEADLINE = LeaseRequest("3", LeaseKind.DEADLINE, NODES, 0, 1_000, start=500, deadline=1_530)


def _apply(request: LeaseRequest, real: int | None, options: OverheadOptions) -> WorkloadLease:
    (lease,) = apply_overheads(Workload("w", (WorkloadLease(request, real),)), options).leases
    return lease


def _durations(real: int | None, options: OverheadOptions) -> tuple[int, int | None]:
    lease = _apply(BEST_EFFORT, real, options)
    return lease.request.duration, lease.real_duration


@pytest.mark.parametrize(("real", "expected"), [(401, (1_070, 442)), (None, (1_070, None))])
def test_honest_slowdown_lengthens_both_durations(real: int | None, expected: tuple[int, int | None]) -> None:
    """5 % and 20 s: ceil(1.05 * 401) + 20 = 442"""
    assert _durations(real, OverheadOptions(5, 20, "besteffort")) == expected


@pytest.mark.parametrize(
    ("percent", "real", "expected"),
    [
        (5, 401, (442, 421)),
        (5, None, (1_070, None)),
        (5, 1, (22, 21)),
        (0, 401, (1_020, 421)),
        (0, None, (1_020, None)),
    ],
)
def test_legacy_slowdown_gives_a_near_perfect_estimate(
    percent: float, real: int | None, expected: tuple[int, int | None]
) -> None:
    """requested = ceil(1.05 * real) + 20, real + 20; if it is unknown, ceil(1.05 * requested) + 20"""
    assert _durations(real, OverheadOptions(percent, 20, "besteffort", "legacy")) == expected


@pytest.mark.parametrize(("applies_to", "changed"), [("none", set()), ("besteffort", {"1"}), ("all", {"1", "2", "3"})])
def test_overheads_apply_to_the_chosen_kinds(applies_to: str, changed: set[str]) -> None:
    """haizea F75"""
    workload = Workload("w", tuple(WorkloadLease(request) for request in (BEST_EFFORT, RESERVATION, DEADLINE)))
    result = apply_overheads(workload, OverheadOptions(5, 20, applies_to))  # type: ignore[arg-type]
    assert {lease.request.lease_id for lease in result.leases if lease.request.duration != 1_000} == changed


def test_a_deadline_moves_only_as_far_as_it_must() -> None:
    options = OverheadOptions(boot_shutdown_s=20, applies_to="all")
    assert _apply(DEADLINE, None, options).request.deadline == 1_530
    assert _apply(DEADLINE, None, replace(options, boot_shutdown_s=50)).request.deadline == 1_550


def test_memory_is_overridden_for_every_lease() -> None:
    """haizea F76"""
    lease = _apply(RESERVATION, 400, OverheadOptions(override_memory_mb=512))
    assert [nodes.resources for nodes in lease.request.nodes] == [
        Resources({"VCPU": 100, "MEMORY_MB": 512}),
        Resources({"VCPU": 50, "MEMORY_MB": 512}),
    ]
    assert (lease.request.duration, lease.real_duration) == (1_000, 400)


def test_percentages_are_exact() -> None:
    """1000 * 1.1 is 1100, though not in binary fractions."""
    assert _durations(100, OverheadOptions(10.0, 0, "all")) == (1_100, 110)


def test_overheads_of_zero_change_nothing() -> None:
    workload = Workload("w", (WorkloadLease(BEST_EFFORT, 400), WorkloadLease(DEADLINE)))
    assert apply_overheads(workload, OverheadOptions()) == workload
    assert apply_overheads(workload, OverheadOptions(applies_to="all")) == workload


@given(
    duration=st.integers(1, 10**6),
    real=st.none() | st.integers(1, 10**6),
    percent=st.floats(0, 300),
    boot=st.integers(0, 100),
    mode=st.sampled_from(["requested-and-actual", "legacy"]),
)
def test_a_real_duration_stays_below_the_requested(
    duration: int, real: int | None, percent: float, boot: int, mode: str
) -> None:
    options = OverheadOptions(percent, boot, "all", mode)  # type: ignore[arg-type]
    known = real if real is not None and real < duration else None
    lease = _apply(replace(BEST_EFFORT, duration=duration), known, options)
    assert lease.real_duration is None or boot < lease.real_duration < lease.request.duration
    assert lease.request.duration >= boot + (known or duration)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"runtime_slowdown_percent": -1}, "runtime_slowdown_percent"),
        ({"runtime_slowdown_percent": float("nan")}, "runtime_slowdown_percent"),
        ({"boot_shutdown_s": -1}, "boot_shutdown_s"),
        ({"override_memory_mb": 0}, "override_memory_mb"),
        ({"applies_to": "some"}, "applies_to"),
        ({"slowdown_mode": "kind"}, "slowdown_mode"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: "):
        OverheadOptions(**options)  # type: ignore[arg-type]
