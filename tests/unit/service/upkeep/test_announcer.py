"""The cloud is told about leases that start soon."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, VCPU, Resources
from lease_scheduler.service.runners import SteppedRunner
from lease_scheduler.service.upkeep.announcer import Announcer, coming

SITE = Site(
    (
        Host("compute-1", Resources({VCPU: 8})),
        Host("compute-2", Resources({VCPU: 8})),
        Host("203.0.113.7", Resources({FLOATING_IP: 1})),
    )
)


def lease(*reservations: Holding) -> Lease:
    request = LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(1, Resources({VCPU: 1})),), 0, 10, start=0)
    return Lease(request, 0, holdings=reservations)


def test_the_next_start_of_each_host() -> None:
    """Started and distant leases are left out; addresses are not hosts."""
    leases = [
        lease(Holding((0,), 90, 90, 200, 200), Holding((0,), 300, 300, 400, 400)),
        lease(Holding((0, 1, 2), 250, 260, 280, 280)),
        lease(Holding((1,), 5000, 5000, 6000, 6000)),
        lease(),
    ]
    assert coming(leases, SITE, 100, 1000) == {"compute-1": 250, "compute-2": 250}
    assert coming(leases, SITE, 250, 1000) == {"compute-1": 300}
    assert coming(leases, SITE, 250, 4750) == {"compute-1": 300, "compute-2": 5000}


def test_it_is_said_when_it_changes_and_again_if_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    present: dict[str, int] = {}
    told: list[dict[str, int]] = []
    fails = [True]

    def tell(starts: Mapping[str, int]) -> None:
        if fails:
            fails.pop()
            raise ConnectionError("the cloud is away")
        told.append(dict(starts))

    runner = SteppedRunner()
    runner.start([Announcer(lambda: dict(present), tell)])
    with caplog.at_level(logging.ERROR):
        for now in (0, 5, 10):
            runner.step(now)
    assert told == [{}]
    assert "it is tried again" in caplog.text
    present["compute-1"] = 250
    for now in (15, 20):
        runner.step(now)
    assert told == [{}, {"compute-1": 250}]


def test_nothing_is_said_when_that_is_switched_off() -> None:
    runner = SteppedRunner()
    runner.start([Announcer(lambda: {"compute-1": 250}, lambda starts: pytest.fail("it is told"), is_on=False)])
    runner.step(0)
    assert runner.next_due() is None
