"""The parts of the comparison with Blazar that make it fair: the workload, and copies of rows."""

from __future__ import annotations

from datetime import datetime

import pytest

from benchmarks.service_against_blazar.cloning import differences, keyed, with_values
from benchmarks.service_against_blazar.workload import REQUEST_HOSTS, REQUEST_HOURS, Cell, workload


@pytest.mark.parametrize("cell", [Cell(4, 100), Cell(50, 100), Cell(500, 200)])
def test_every_host_is_given_once_and_requests_find_theirs_free(cell: Cell) -> None:
    found = workload(cell, requests=5)
    held = {
        (host, hour)
        for booking in found.bookings
        for host in booking.hosts
        for hour in range(booking.start, booking.start + booking.hours)
    }
    assert len(found.bookings) == cell.leases
    assert len(held) == sum(len(booking.hosts) * booking.hours for booking in found.bookings)
    assert {len(booking.hosts) for booking in found.bookings} == {cell.hosts_per_lease}
    assert len(found.free_starts) == 5
    for start in found.free_starts:
        hours = range(start, start + REQUEST_HOURS)
        free = [host for host in range(cell.hosts) if not any((host, hour) in held for hour in hours)]
        assert len(free) >= REQUEST_HOSTS


def test_a_workload_is_the_same_for_both_services() -> None:
    assert workload(Cell(50, 20), 3) == workload(Cell(50, 20), 3)


def test_a_copy_has_other_values_at_every_depth_but_only_of_the_same_type() -> None:
    row = {
        "id": "a",
        "on": datetime(2030, 1, 1),
        "terms": {"hosts": ["a", "b"], "end": 1},
        "degraded": True,
        "price": 1.0,
    }
    other = keyed({"a": "x", datetime(2030, 1, 1): datetime(2031, 1, 1), 1: 7})
    assert with_values(row, other) == {
        "id": "x",
        "on": datetime(2031, 1, 1),
        "terms": {"hosts": ["x", "b"], "end": 7},
        "degraded": True,
        "price": 1.0,
    }


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"id": "b", "events": [{"time": "2"}]}, []),
        ({"id": "b", "events": []}, [".events: 1 and 0 entries"]),
        ({"id": 2, "events": [{"time": "2"}]}, [".id: str and int"]),
        ({"id": "b", "events": [{"time": None}]}, [".events[0].time: str and NoneType"]),
        ({"events": [{"time": "2"}]}, [".id: only in one"]),
    ],
)
def test_shapes_are_compared_and_values_are_not(other: object, told: list[str]) -> None:
    assert differences({"id": "a", "events": [{"time": "1"}]}, other) == told
