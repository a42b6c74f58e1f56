"""For how long leases count in shares, waiting times and loads (shirako A30; contention F66)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.duration.counted import CountedDurations
from lease_scheduler.policy.queueing.winks.kinds import Kinds

_DAY = 86_400
_REQUEST = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, 100)


@pytest.mark.parametrize(
    ("duration", "expected"),
    [(100, 100), (7 * _DAY, 7 * _DAY), (8 * _DAY, 7 * _DAY), (UNLIMITED - 1, 7 * _DAY), (UNLIMITED, _DAY)],
)
def test_only_leases_of_years_count_with_an_estimate(duration: int, expected: int) -> None:
    request = replace(_REQUEST, duration=duration)
    durations = CountedDurations()

    assert durations.of_request(request) == durations.of_rest(request, duration) == expected
    assert durations.of_rest(request, 50) == 50


@pytest.mark.parametrize("name", ["duration_endless", "duration_longest"])
def test_a_lease_counts_for_at_least_a_second(name: str) -> None:
    with pytest.raises(InvalidValueError, match=f"{name}: must be at least 1, not 0"):
        CountedDurations.of(PolicyOptions({name: "0"}))


def test_leases_with_estimated_durations_are_alike_only_if_these_are_equal() -> None:
    """That one of a month finds no place says nothing about one of eight days, although both count for a week."""
    kinds = Kinds(CountedDurations())
    counted = {kinds.of(replace(_REQUEST, duration=days * _DAY)) for days in (1, 2, 7)}
    estimated = [kinds.of(replace(_REQUEST, duration=each)) for each in (8 * _DAY, 30 * _DAY, UNLIMITED)]

    assert len(counted) == 1
    assert len({*counted, *estimated}) == 4
