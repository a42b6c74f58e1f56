"""When nodes fit: windows without preemption, and windows in which a reservation would be granted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.explaining.reservable import room
from lease_scheduler.plan.explaining.windows import Window, Windows, windows
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner, running

RESERVATION, BEST_EFFORT = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT


def _windows(*found: tuple[int, int, int], start: int | None = None) -> Windows:
    every = tuple(Window(*each) for each in found)
    return Windows(every, every[0].start if every and start is None else start)


@pytest.fixture
def planner(make_planner: MakePlanner, make_lease: MakeLease) -> Planner:
    """Return a planner of three hosts, of which one is taken from 100 to 200 s, and one from 150 to 300 s."""
    planner = make_planner(3)
    for start, end in ((100, 200), (150, 300)):
        planner.place(make_lease(RESERVATION, start=start, duration=end - start), 0)
    return planner


@pytest.mark.parametrize(
    ("count", "start", "end", "duration", "expected"),
    [
        (1, 0, 400, 50, [(0, 400, 1)]),
        (2, 0, 400, 50, [(0, 150, 2), (200, 400, 2)]),
        (3, 0, 400, 50, [(0, 100, 3), (300, 400, 3)]),
        (4, 0, 400, 50, []),
        # Windows are as long as they can be, and not shorter than what is asked for.
        (3, 0, 400, 100, [(0, 100, 3), (300, 400, 3)]),
        (3, 0, 400, 101, []),
        (3, 0, 401, 101, [(300, 401, 3)]),
        # Only the part within the interval counts.
        (2, 120, 310, 30, [(120, 150, 2), (200, 310, 2)]),
        (2, 120, 310, 31, [(200, 310, 2)]),
        (2, 150, 200, 1, []),
        (2, 149, 201, 1, [(149, 150, 2), (200, 201, 2)]),
        (1, 100, 150, 50, [(100, 150, 2)]),
        (1, 100, 150, 51, []),
    ],
)
def test_windows_are_the_maximal_intervals_in_which_the_nodes_fit(
    planner: Planner, count: int, start: int, end: int, duration: int, expected: list[tuple[int, int, int]]
) -> None:
    """All intervals in which this many nodes fit on the same hosts throughout, each with the number that would fit."""
    found = windows(planner.context, NodeSet(count, VM), start, end, duration)
    assert found == _windows(*expected)


def test_windows_count_nodes_that_share_hosts(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Two nodes fit on each host; a node set may limit that, or the hosts."""
    planner = make_planner(2, capacity=Resources({VCPU: 2, MEMORY_MB: 2048}))
    planner.place(make_lease(RESERVATION, nodes=3, start=100, duration=100), 0)
    asked = NodeSet(1, VM)
    assert windows(planner.context, asked, 0, 300, 10).windows == (Window(0, 300, 1),)
    assert windows(planner.context, replace(asked, count=2), 0, 300, 10) == _windows((0, 100, 4), (200, 300, 4))
    alone = replace(asked, count=2, per_host=1)
    assert windows(planner.context, alone, 0, 300, 10) == _windows((0, 100, 2), (200, 300, 2))
    named = replace(asked, hosts=frozenset({planner.plan.site.hosts[0].name}))
    assert windows(planner.context, named, 0, 300, 10) == _windows((0, 100, 2), (200, 300, 2))


def _granted(planner: Planner, count: int, start: int, end: int) -> bool:
    request = LeaseRequest("x", RESERVATION, (NodeSet(count, VM),), 0, end - start, start)
    return quote(planner, request, 99, 100).granted


def test_reservable_windows_include_what_best_effort_leases_give_up(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Best-effort leases make room, reservations do not. Free windows within others are not listed twice."""
    planner = make_planner(2)
    running(planner, make_lease(BEST_EFFORT, duration=1000))
    planner.place(make_lease(RESERVATION, start=2000, duration=500), 0)
    found = room(planner, NodeSet(2, VM), 0, 3000, 300, 0)
    assert found.free == _windows((1000, 2000, 2), (2500, 3000, 2))
    assert found.reservable.windows == (
        Window(0, 2000, 2, (("best-effort", 1),)),
        Window(2500, 3000, 2),
    )
    assert found.reservable.earliest == 0
    one = room(planner, NodeSet(1, VM), 0, 3000, 300, 0)
    assert one.free == one.reservable == _windows((0, 3000, 1))


def test_a_window_ends_early_enough_for_the_shutdown(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A window ends so early that the nodes are gone when the next lease begins."""
    planner = make_planner(1, shutdown_time=20)
    planner.place(make_lease(RESERVATION, start=1000, duration=80), 0)
    found = room(planner, NodeSet(1, VM), 0, 2000, 300, 0)
    assert found.free == found.reservable == _windows((0, 980, 1), (1100, 2000, 1))
    assert room(planner, NodeSet(1, VM), 0, 1000, 980, 0).free == _windows((0, 980, 1))
    assert room(planner, NodeSet(1, VM), 0, 1000, 981, 0).free == Windows((), None)


def test_a_window_begins_once_its_victims_can_be_suspended(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A deadline lease can make room only once its memory is saved; it is then done by its deadline all the same."""
    planner = make_planner(1)
    lease = running(planner, make_lease(LeaseKind.DEADLINE, start=0, duration=1000, deadline=2000))
    found = room(planner, NodeSet(1, VM), 100, 5000, 300, 100)
    assert found.free == _windows((1000, 5000, 1))
    for window in found.reservable.windows:
        assert _granted(planner, window.count, window.start, window.end)
        assert not _granted(planner, window.count, window.start, window.end + 1) or window.end == 5000
    first = found.reservable.windows[0]
    assert first.start < lease.holdings[0].end
    assert first.preempted == (("deadline", 1),)
    assert (found.reservable.earliest, len(found.reservable.windows)) == (first.start, 2)
