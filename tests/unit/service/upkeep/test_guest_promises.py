"""The cloud is told for how long servers without a lease are promised to run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Lock

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.service.upkeep.guest_promises import VALID, GuestPromises, Lifetimes, within_plan

HOUR = 3_600


class _Engine:
    """Promises as much as it is told to."""

    def __init__(self) -> None:
        self.site = Site((Host("one", Resources({VCPU: 8})), Host("two", Resources({VCPU: 8}))))
        self.leases: list[Lease] = []
        self.seconds = 6 * HOUR
        self.asked = 0

    def live_leases(self) -> list[Lease]:
        return self.leases

    def guest_lifetimes(self, assurances: Collection[float]) -> Callable[[], Mapping[float, Mapping[str, int]]]:
        self.asked += 1
        return lambda: {each: {"one": self.seconds, "two": self.seconds} for each in assurances}


def _lease(start: int) -> Lease:
    request = LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(1, Resources({VCPU: 1})),), 0, HOUR, start=start)
    return Lease(request, 0, holdings=(Holding((0,), start, start, start + HOUR, start + HOUR),))


def test_lifetimes_end_where_a_lease_is_planned() -> None:
    lifetimes = {0.9: {"one": 6 * HOUR, "two": HOUR}, 0.8: {"one": 6 * HOUR}}
    assert within_plan(lifetimes, {}, 100) == lifetimes
    assert within_plan(lifetimes, {"one": 100 + 2 * HOUR + 899, "two": 99}, 100) == {
        0.9: {"one": 2 * HOUR},
        0.8: {"one": 2 * HOUR},
    }


def test_it_is_told_when_it_changes_and_before_it_is_out_of_date() -> None:
    engine, now, asked, told = _Engine(), [1_000], [0.9], list[tuple[Lifetimes, int]]()
    promises = GuestPromises(lambda: engine, Lock(), lambda: now[0], lambda *each: told.append(each), lambda: asked, 60)

    def after(seconds: int) -> int:
        now[0] += seconds
        promises.tell_again()
        return len(told)

    assert after(0) == 1
    assert told[-1] == ({0.9: {"one": 6 * HOUR, "two": 6 * HOUR}}, 1_000 + VALID)
    assert after(60) == 1
    engine.leases = [_lease(now[0] + VALID + 2 * HOUR + 60 + 60)]
    assert after(60) == 2
    assert told[-1][0] == {0.9: {"one": 2 * HOUR, "two": 6 * HOUR}}
    assert after(VALID // 2) == 3
    assert told[-1][1] == now[0] + VALID
    assert engine.asked == 1
    engine.seconds = HOUR
    assert after(HOUR) == 4
    assert engine.asked == 2
    assert told[-1][0] == {0.9: {"one": 3 * VALID, "two": HOUR}}
    # A clock that is set back.
    assert after(-2 * HOUR) == 5
    # A configuration that is read again.
    asked.clear()
    assert after(60) == 6
    assert told[-1][0] == {}
