"""A day of leases in some minutes: ``GET /v1/usage`` reports the same as Nova's notifications.

There are all four kinds and two projects. One lease ends early, one is extended, one is cancelled, one is preempted and
resumed, and the host of one dies. The day is compared in slices; a slice in which nothing starts or ends must agree to
the second.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.functional.lab import accounts
from tests.functional.lab.accounts import CLASSES, Account, Booked
from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    as_date,
    host_of,
    in_epoch,
    in_seconds,
    running_service,
    usages,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import User
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_NAMES = [host.name for host in LAB_HOSTS]

#: The host with a process of its own, so that it can be killed alone.
_MORTAL = _NAMES[-1]

#: One of these fits on a host.
_LARGE = {"VCPU": 8, "MEMORY_MB": 9_000, "DISK_GB": 2}

#: Money per node and hour.
_RATE = 2.5

#: Real seconds of shelving and unshelving, and the planned seconds of each. The plan for shelving is longer, so that it
#: is done in time. The plan for unshelving is shorter, because use counts only from the planned time on.
_COPYING, _PLANNED, _PLANNED_BACK = 10.0, 16, 5

#: Seconds of a slice of the day.
_SLICE = 5

#: Reported hours have four decimals.
_ROUNDING = 3_600 * 0.5e-4 + 1e-6


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """The service, with prices, and with its hosts' times for shelving in the model."""
    settings: dict[str, dict[str, object]] = {
        "scheduling": {
            "policy_pricing": "constant",
            "override_suspend_time": _PLANNED,
            "override_resume_time": _PLANNED_BACK,
            "force_scheduling_threshold": 0,
        },
        "policy": {"pricing_rate": _RATE},
        "nova": {"down_grace": 5},
    }
    with running_service(lab, settings=settings) as started:
        yield started


class _Books:
    """The leases of the day, and Nova's notifications since it began."""

    def __init__(self, service: Service, recorder: NotificationRecorder) -> None:
        self.service = service
        self.recorder = recorder
        self.begun = int(time.time())
        self._made: list[tuple[Document, User, int, dict[str, int], int, bool]] = []

    def make(self, user: User, nodes: int, *, servers: bool, needs: Document, **terms: Any) -> Document:
        """Request a lease."""
        duration = terms.get("duration") or round(in_epoch(terms["end_date"]) - in_epoch(terms["start_date"]))
        if servers:
            terms["servers"] = [{**self.service.template(), "count": nodes}]
        exclusive = {"exclusive": True} if needs.get("exclusive") else {}
        resources = {name: amount for name, amount in needs.items() if name in CLASSES}
        lease = self.service.lease(user, nodes=[{"count": nodes, "resources": resources, **exclusive}], **terms)
        promised = self.host_size() if exclusive else resources
        self._made.append((lease, user, nodes, promised, duration, servers))
        return lease

    def extended(self, lease: Document, seconds: int) -> None:
        """Record that a lease was extended beyond the requested duration."""
        self._made = [
            (*each[:4], each[4] + seconds, each[5]) if each[0]["id"] == lease["id"] else each for each in self._made
        ]

    def host_size(self) -> dict[str, int]:
        """Return the resources of a host, which all hosts have."""
        (_, most) = usages(self.service.admin, _NAMES)[_NAMES[0]]
        return {name: most[name] for name in CLASSES}

    def booked(self) -> list[Booked]:
        """Return all leases as they are now."""
        return [
            Booked(self.service.show(lease), user.project_id, nodes, needs, duration, servers)
            for lease, user, nodes, needs, duration, servers in self._made
        ]

    def close(self) -> None:
        """End all leases."""
        for lease, *_ in self._made:
            self.service.is_cancelled(lease)
        self.service.nothing_left()


@pytest.fixture
def books(service: Service, lab: Lab) -> Iterator[_Books]:
    lab.ensure_running()
    with NotificationRecorder(lab.rabbitmq) as recorder:
        kept = _Books(service, recorder)
        yield kept
        for host in _NAMES:
            lab.set_delays(host, {})
        lab.ensure_running()
        kept.close()


def _usage(service: Service, start: int, end: int) -> dict[str, Document]:
    """Return the usage of all projects as the service reports it."""
    dates = [datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%S") for instant in (start, end)]
    path = f"usage?all_projects=true&start={dates[0]}&end={dates[1]}"
    answer = service.ask(service.operator, "GET", path)
    assert answer.ok, answer.text
    return {each["project_id"]: each for each in answer.json()["usage"]}


def _check(books: _Books) -> None:
    """Check that Nova and the service agree slice by slice, in total, and about money."""
    service = books.service
    booked = books.booked()
    heard = books.recorder.heard()
    kept = [accounts.account(each, heard) for each in booked]
    end = int(time.time()) + 1
    slices = range(books.begun, end + _SLICE, _SLICE)
    exact = Counter(_compare(service, kept, start, start + _SLICE) for start in slices)
    print(f"slices that are to be exact, with something in them: {exact[True]} of {exact.total()}")
    assert exact[True] >= 2
    for key, use in accounts.used(kept, books.begun, end).items():
        told = _told(service, *key, books.begun, end)
        difference = told[0] - use.node_seconds
        edges = sum(2 * each.booked.nodes * len(each.intervals) for each in kept if _key(each) == key)
        print(f"{key[1]}: ours {told[0]:.0f} node-seconds, Nova's {use.node_seconds:.1f}, {edges} edges of nodes")
        assert abs(difference) <= edges * accounts.NOTICE + _ROUNDING
    _check_revenue(books, booked, end)


def _key(each: Account) -> tuple[str, str]:
    return each.booked.project_id, each.booked.kind


def _compare(service: Service, kept: list[Account], start: int, end: int) -> bool:
    """Compare one slice; return whether it was exact to the second, and not empty."""
    found = _usage(service, start, end)
    expected = accounts.used(kept, start, end)
    told = {(project, kind) for project, each in found.items() for kind in each["kinds"]}
    assert told <= {key for key, use in expected.items() if use.node_seconds or use.tolerance}, (found, expected)
    is_exact = False
    for (project, kind), use in expected.items():
        hours = found.get(project, {}).get("kinds", {}).get(kind, {"node_hours": 0.0, "resource_hours": {}})
        what = (start, end, kind, hours, use)
        assert abs(hours["node_hours"] * 3_600 - use.node_seconds) <= use.tolerance + _ROUNDING, what
        for name in CLASSES:
            amount = hours["resource_hours"].get(name, 0.0) * 3_600
            assert abs(amount - use.resource_seconds[name]) <= use.resource_tolerance[name] + _ROUNDING, (name, what)
        is_exact |= use.node_seconds > 0 and use.tolerance == 0
    return is_exact


def _told(service: Service, project: str, kind: str, start: int, end: int) -> tuple[float, Document]:
    kinds = _usage(service, start, end).get(project, {}).get("kinds", {})
    hours = kinds.get(kind, {"node_hours": 0.0, "resource_hours": {}})
    return hours["node_hours"] * 3_600, hours["resource_hours"]


def _check_revenue(books: _Books, booked: list[Booked], end: int) -> None:
    """haizea F78, F82: check that revenue is nodes x duration x rate of all done leases, whatever they used."""
    earned: Counter[str] = Counter()
    for each in booked:
        if each.lease["state"] == "done":
            # An extended lease is charged from its actual start.
            assert 0 <= each.duration - each.lease["duration"] <= accounts.NOTICE
            earned[each.project_id] += each.nodes * each.lease["duration"] / 3_600 * _RATE
    told = _usage(books.service, books.begun, end)
    for project, amount in earned.items():
        assert told[project]["revenue"]["earned"] == pytest.approx(amount, abs=1e-5)


def test_leases_of_all_kinds(service: Service, books: _Books) -> None:
    """One lease ends early, one is extended, one is cancelled; with servers and with whole hosts; in both projects."""
    ada, bob = service.ada, service.bob
    early = books.make(bob, 2, servers=True, needs=QUARTER, kind="immediate", duration=120)
    longer = books.make(ada, 1, servers=False, needs=QUARTER, kind="immediate", duration=25)
    every_host = {**QUARTER, "exclusive": True}
    cancelled = books.make(bob, 4, servers=False, needs=every_host, kind="best-effort", duration=30)
    assert service.state(cancelled) in ("queued", "ready")
    (start_date, start), (end_date, _) = in_seconds(PREPARATION + 10), in_seconds(PREPARATION + 40)
    dates = {"kind": "reservation", "start_date": start_date, "end_date": end_date}
    reserved = books.make(ada, 2, servers=True, needs=QUARTER, **dates)
    whole = books.make(bob, 1, servers=False, needs=every_host, **dates)
    in_time = books.make(
        ada,
        2,
        servers=True,
        needs=QUARTER,
        kind="deadline",
        duration=25,
        start_date=as_date(start + 5),
        deadline=as_date(start + 600),
    )
    assert service.ask(ada, "POST", f"leases/{longer['id']}/action", {"extend": {"by": 15}}).ok
    books.extended(longer, 15)
    service.is_cancelled(cancelled)
    service.becomes(early, "active")
    running = time.time()
    assert wait_until(lambda: time.time() > running + 25, LIMIT)
    assert service.ask(bob, "POST", f"leases/{early['id']}/action", {"end": {}}).ok
    for each in (early, longer, reserved, whole, in_time):
        service.becomes(each, "done")
    assert service.state(cancelled) == "cancelled"
    # It has paid for all that it asked for, and used only a part of it.
    assert in_epoch(service.show(early)["ended_at"]) < running + 120
    _check(books)


def test_preempted_and_resumed(lab: Lab, service: Service, books: _Books) -> None:
    """Shelving and unshelving count as use, and the time in between does not."""
    queued = books.make(service.ada, 4, servers=True, needs=_LARGE, kind="best-effort", duration=70)
    service.becomes(queued, "active")
    for host in _NAMES:
        lab.set_delays(host, {"snapshot": _COPYING, "spawn": _COPYING})
    ahead = PREPARATION + _PLANNED + 12
    (start_date, _), (end_date, _) = in_seconds(ahead), in_seconds(ahead + 25)
    reserved = books.make(
        service.bob,
        4,
        servers=False,
        needs={**QUARTER, "exclusive": True},
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
    )
    service.becomes(reserved, "done", 2 * LIMIT)
    service.becomes(queued, "active", 2 * LIMIT)
    service.becomes(queued, "done", 2 * LIMIT)
    (kept,) = [
        accounts.account(each, books.recorder.heard()) for each in books.booked() if each.lease["id"] == queued["id"]
    ]
    assert len(kept.intervals) == 2, service.history(queued)
    _check(books)


def test_host_dies(lab: Lab, service: Service, books: _Books) -> None:
    """What was used before the failure counts although it is lost, and so does the repeated work; the gap does not."""
    lost = books.make(service.bob, 4, servers=True, needs=_LARGE, kind="best-effort", duration=30)
    service.becomes(lost, "active")
    assert _MORTAL in {host_of(each) for each in service.servers(service.bob)}
    lab.computes_of(_MORTAL).kill()
    assert wait_until(lambda: any("its host failed" in each["reason"] for each in service.history(lost)), LIMIT)
    lab.ensure_running()
    service.becomes(lost, "done", 2 * LIMIT)
    assert service.show(lost)["accumulated"] == pytest.approx(30, abs=1)
    _check(books)
