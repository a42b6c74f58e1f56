"""Shares of three projects over a quarter of an hour, measured from Nova's records; the engine is killed twice.

Grit 2007, chapter 5 (shirako S10). The three steps are tests of their own because a test may take seven minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
import requests

from tests.functional.lab.service import LIMIT, Document, Service, insist, running_service
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import User
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Two of these fill the memory of a host of the lab, which gives a server at most 8 VCPUs.
_HALF = {"VCPU": 8, "MEMORY_MB": 7_800, "DISK_GB": 2}

#: Each project: weight, seconds that a lease runs, and number of leases of one node. All of them together are half as
#: much again as the site can do, so no project is ever without a queue.
_PROJECTS = {"physics": (50, 30, 180), "biology": (30, 45, 72), "chemistry": (20, 60, 36)}

_STEP, _STEPS = 300, 3

#: Seconds for which there is no engine.
_AWAY = 5.0


@dataclass
class _Site:
    """The site with its full queue.

    :ivar users: a member of each project
    :ivar leases: ids of the leases of each project
    :ivar begun: when the measurement began, in seconds since the epoch
    """

    service: Service
    users: dict[str, User]
    leases: dict[str, list[Document]] = field(default_factory=dict)
    begun: float = 0.0

    def used(self, begin: float, end: float) -> dict[str, float]:
        """Return the VCPU hours of each project in an interval, as Nova has recorded them."""
        span = "&".join(
            f"{name}={datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat()}"
            for name, at in (("start", begin), ("end", end))
        )
        found = {}
        for name, user in self.users.items():
            path = f"/os-simple-tenant-usage/{user.project_id}?{span}"
            answer = insist(lambda path=path: self.service.admin.compute("GET", path))  # type: ignore[misc]
            found[name] = float(answer["tenant_usage"].get("total_vcpus_usage", 0.0))
        return found

    def queued(self) -> dict[str, int]:
        """Return the number of queued leases of each project."""
        answer = self.service.ask(self.service.operator, "GET", "flows?all_projects=true")
        assert answer.ok, answer.text
        by_id = {flow["name"]: flow["queued"] for flow in answer.json()["flows"]}
        return {name: by_id[user.project_id] for name, user in self.users.items()}


@pytest.fixture(scope="module")
def site(lab: Lab) -> Iterator[_Site]:
    """Our service with weights of three projects, which have more leases than the site can do."""
    settings: dict[str, dict[str, object]] = {"scheduling": {"policy_queueing": "winks"}}
    with running_service(lab, settings=settings) as service:
        users = {name: lab.keystone.user(f"member-{name}", lab.keystone.project(name), "member") for name in _PROJECTS}
        made = _Site(service, users)
        try:
            yield made
        finally:
            for leases in made.leases.values():
                for lease in reversed(leases):
                    service.is_cancelled(lease)


def test_the_queue_of_each_project_fills(site: _Site) -> None:
    """The measurement begins when all projects have a queue, and the site is full."""
    service = site.service
    for name, (weight, *_) in _PROJECTS.items():
        path = f"flows/{site.users[name].project_id}"
        assert service.ask(service.operator, "PUT", path, {"weight": weight}).ok
    site.leases = {name: [] for name in _PROJECTS}
    # The first leases of all projects come first, so that the site is full of all of them from the beginning.
    for number in range(max(count for *_, count in _PROJECTS.values())):
        for name, (_, duration, count) in _PROJECTS.items():
            if number < count:
                terms = {"kind": "best-effort", "duration": duration, "nodes": [{"count": 1, "resources": _HALF}]}
                servers = [{**service.template(), "count": 1}]
                site.leases[name].append(service.lease(site.users[name], servers=servers, **terms))
    queued = site.queued()
    assert all(count > 10 for count in queued.values()), queued
    site.begun = time.time()


@pytest.mark.parametrize("step", range(1, _STEPS + 1))
def test_a_third_of_the_time(site: _Site, step: int) -> None:
    """Everybody keeps a queue; at the end of the first two steps the engine is killed, and goes on later."""
    assert site.begun, "the queues were not filled"
    left = site.begun + step * _STEP - time.time()
    if left > 0:
        time.sleep(left)
    if step < _STEPS:
        site.service.end_engine()
        time.sleep(_AWAY)
        site.service.start_engine()
        assert wait_until(lambda: _is_there(site.service), LIMIT), site.service.said()
    queued = site.queued()
    assert all(queued.values()), queued


def _is_there(service: Service) -> bool:
    """Return whether an engine answers."""
    try:
        return service.ask(service.operator, "GET", "flows").ok
    except requests.RequestException:
        return False


def test_the_shares_are_those_of_the_weights(site: _Site) -> None:
    """50, 30 and 20 % within 3 points, of at least three quarters of the site; no lease ran twice, and none failed."""
    end = site.begun + _STEPS * _STEP
    assert time.time() >= end
    used = site.used(site.begun, end)
    total = sum(used.values())
    assert total >= 0.75 * 2 * len(LAB_HOSTS) * _HALF["VCPU"] * (end - site.begun) / 3_600
    shares = {name: 100 * hours / total for name, hours in used.items()}
    assert shares == pytest.approx({name: weight for name, (weight, *_) in _PROJECTS.items()}, abs=3), used
    for leases in site.leases.values():
        for lease in leases:
            shown = site.service.show(lease)
            assert shown["state"] in ("queued", "scheduled", "ready", "active", "done"), shown
            if shown["state"] == "done":
                states = [entry["to"] for entry in site.service.history(lease)]
                assert states.count("active") == 1, states


def test_nothing_is_left(site: _Site) -> None:
    """When all leases are cancelled, Nova has no server of the three projects, and Placement no usage."""
    service = site.service
    for leases in site.leases.values():
        for lease in reversed(leases):
            service.is_cancelled(lease)
    assert wait_until(lambda: not any(service.servers(user) for user in site.users.values()), LIMIT), service.said()
    service.nothing_left()
