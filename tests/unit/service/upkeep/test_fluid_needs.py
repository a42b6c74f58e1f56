"""The thread that measures what fluid leases use (issue 22, point 4)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.facts import LeaseServer, Power
from lease_scheduler.fractional.discovery import Needs
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.upkeep.fluid_needs import NeedsWatch


def _lease(lease_id: str, host: int, progress: Progress | None) -> Lease:
    nodes = (NodeSet(1, Resources({VCPU: 4})).made_fluid(0.25),)
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, nodes, 0, preemptible=True, min_yield=0.25)
    return Lease(request, 0, active_since=0, holdings=(Holding((host,), 0, 100, 0, 100),), progress=progress)


class _Site:
    """Two leases that run, and a source of needs that a test controls."""

    is_prompt = True

    def __init__(self) -> None:
        self.lock = RLock()
        self.options = SimpleNamespace(needs_interval=60)
        leases = {name: _lease(name, 0, Progress(0, 500, 0)) for name in "ab"}
        rigid = Lease(LeaseRequest("rigid", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 4})),), 0), 0)
        self.work = SimpleNamespace(
            leases=leases | {"rigid": rigid},
            documents=dict.fromkeys([*leases, "rigid"], SimpleNamespace(project_id="project")),
            now=100,
        )
        self.engine = self.driver = self
        self.records = SimpleNamespace(hosts={1: SimpleNamespace(name="host", vcpus=8)})
        self.site = Site((Host("host", Resources({VCPU: 8})),))
        self.servers = {name: [LeaseServer(f"server-{name}", Power.ON, 4)] for name in "ab"}
        self.used: Mapping[str, float] = {}
        self.error: Exception | None = None
        self.asked: set[str] = set()
        self.noted: list[Needs] = []
        self.watch = NeedsWatch(cast(SiteTransactions, self), self, gap=lambda: 3)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def note_needs(self, needs: Needs) -> None:
        self.noted.append(needs)

    @property
    def usage(self) -> Any:
        return self

    def servers_of(self, leases: Collection[Any]) -> Mapping[str, list[LeaseServer]]:
        return {each.lease_id: self.servers[each.lease_id] for each in leases}

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        self.asked = set(servers)
        if self.error is not None:
            raise self.error
        return self.used

    def measure(self, **used: float) -> Needs:
        """Measure, and return what the engine knows afterwards."""
        self.used = {f"server-{name}": cpus for name, cpus in used.items()}
        self.work.now += 60
        self.watch.measure()
        return self.noted[-1]

    def becomes(self, name: str, progress: Progress) -> None:
        self.work.leases[name] = _lease(name, 0, progress)


@pytest.fixture
def site() -> _Site:
    return _Site()


def test_the_engine_learns_what_leases_use(site: _Site) -> None:
    """It is told when something has changed. Of the first interval, nobody knows when it began."""
    assert site.measure(a=0.8, b=1.9) == Needs({})
    assert site.asked == {"server-a", "server-b"}
    assert site.measure(a=0.8, b=1.6) == Needs({"a": 0.2, "b": 0.4})
    count = len(site.noted)
    # All that it is given is used by one of them, so it is tried in every third interval, unless its part changes.
    assert site.measure(a=0.8, b=1.96) == Needs({"a": 0.2, "b": 0.49}, frozenset("b"))
    assert len(site.noted) == count + 1
    site.becomes("b", Progress(0, 700, site.work.now + 5, 800))
    assert site.measure(a=0.8, b=3.0) == Needs({"a": 0.2, "b": 0.49})
    assert site.measure(a=0.8, b=2.8) == Needs({"a": 0.2, "b": 0.7})


def test_a_host_that_promises_its_cpus_four_times_is_full_at_a_quarter_of_that(site: _Site) -> None:
    """Both are given 2 of 32 VCPU, which are half a CPU. At last, one uses that, and the other one half of it."""
    site.site = Site((Host("host", Resources({VCPU: 32})),))
    site.measure(a=0.4, b=0.25)
    assert site.measure(a=0.4, b=0.25).parts == {"a": 0.4, "b": 0.25}
    assert site.measure(a=0.5, b=0.25) == Needs({"a": 0.5, "b": 0.25}, frozenset("a"))


def test_servers_that_are_off_use_nothing_and_unclear_ones_are_unknown(site: _Site) -> None:
    site.servers["a"] = [LeaseServer("server-a", Power.OFF, 4)]
    site.servers["b"].append(LeaseServer("new", Power.UNKNOWN, 4))
    site.measure(b=0.4)
    assert site.measure(b=0.4) == Needs({"a": 0.01})
    site.servers["a"] = [LeaseServer("server-a", Power.ON, 4), LeaseServer("server-c", Power.ON, 2)]
    # The busiest one counts.
    assert site.measure(a=0.4, c=0.8).parts == {"a": 0.4}
    for cpus in (float("nan"), float("inf"), -1.0):
        site.measure(a=0.4, c=0.8)
        assert site.measure(a=0.4, c=cpus).parts == {}


def test_an_interval_begins_when_servers_have_their_new_shares(site: _Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they used until then is asked for, and forgotten."""
    calls: list[Collection[str]] = []

    def cpus(servers: Collection[str]) -> Mapping[str, float]:
        calls.append(servers)
        return {}

    monkeypatch.setattr(site, "cpus", cpus)
    waits = [site.watch.round(0.0) for _ in range(4)]
    assert waits == pytest.approx([5, 55, 5, 55], abs=1)
    assert len(calls) == 4
    assert len(site.noted) == 1, "only every other time it is measured"
    site.is_prompt = False
    assert site.watch.round(0.0) == pytest.approx(60, abs=1)


def test_a_source_that_does_not_answer(site: _Site, caplog: pytest.LogCaptureFixture) -> None:
    """Leases get what they declare until it does again; that is told once."""
    caplog.set_level(logging.INFO)
    site.measure(a=0.4, b=0.4)
    assert site.measure(a=0.4, b=0.4).parts == {"a": 0.1, "b": 0.1}
    site.error = OSError("no answer")
    assert site.measure() == Needs({})
    assert site.measure() == Needs({})
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    site.error = None
    assert site.measure(a=0.4, b=0.4).parts == {"a": 0.1, "b": 0.1}
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_site_without_fluid_leases_is_left_alone(site: _Site) -> None:
    for name in "ab":
        del site.work.documents[name]
    site.watch.measure()
    assert site.noted == []
    assert site.asked == set()
