"""A day of a recorded machine on twenty hosts, some of which die: promises are kept, and nothing is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

import pytest
import requests
from keystoneauth1.exceptions import ClientException

from lease_scheduler.cloud.nova.api import names
from tests.functional.lab.day import Job, jobs_of_a_day
from tests.functional.lab.service import (
    PREPARATION,
    Document,
    Service,
    as_date,
    in_epoch,
    running_service,
    usages,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_DOWN_AFTER, running
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.nova import Host

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: The first two, which are filled first, can be killed alone.
_HOSTS = tuple(Host(f"host{number:02}", process=str(min(number, 3))) for number in range(1, 21))
_MORTAL = (_HOSTS[0].name, _HOSTS[1].name)

_LENGTH = 600.0
_LEASES = 100

#: Seven fill a host of 32 VCPUs and 16 GiB less Nova's share.
_PER_HOST = 7
_NODE = {"VCPU": 4, "MEMORY_MB": 2_200, "DISK_GB": 1}

#: Most servers of a managed lease; most of its nodes have none, because the machine is small.
_SERVERS = 2

#: Earliest time of a host's failure and its duration, in seconds, and the host.
_FAILURES = ((180.0, 90.0, _MORTAL[0]), (380.0, 90.0, _MORTAL[1]))

#: The jobs of the day.
_JOBS = jobs_of_a_day(_LENGTH, _LEASES, _PER_HOST * len(_HOSTS), largest=40)

#: Seconds for which one test waits; a test that takes seven minutes would end the whole test run.
_PART = 240.0

#: Latest end of the last lease, in seconds from the beginning.
_LAST = 2 * _LENGTH

_OVER = frozenset({"done", "cancelled", "rejected", "failed"})


@pytest.fixture(scope="module")
def large_lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Twenty hosts."""
    cache = request.config.cache.mkdir("openstack")
    with running(lambda folder: Lab(folder, cache, _HOSTS, down_after=LAB_DOWN_AFTER)) as started:
        yield started


@pytest.fixture(scope="module")
def service(large_lab: Lab) -> Iterator[Service]:
    """The service on the twenty hosts."""
    # Nova's API is a single process here and hosts die only twice, so the service polls as rarely as in a real cloud.
    settings = {
        "engine": {"reconcile_interval": 30, "host_repair_time": 120},
        "nova": {"inspect_interval": 15, "watch_interval": 10},
    }
    with running_service(large_lab, settings=settings) as started:
        yield started


@dataclass
class _Day:
    """The day, and a record of it.

    :ivar begun: its beginning, in seconds since the epoch
    :ivar made: leases by the numbers of their jobs
    :ivar refused: jobs whose requests were refused, with the answer
    :ivar oversold: hosts with more usage than capacity
    :ivar samples: number of checks of that
    :ivar capacity: for each reservation its state just after its start, and the number of its nodes with their capacity
    :ivar ended: jobs whose lease was ended early
    :ivar states: latest known states of leases, by id
    :ivar parts: the concurrent activities
    :ivar is_given_up: whether all waiting should stop
    """

    begun: float
    made: dict[int, Document] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    oversold: list[str] = field(default_factory=list)
    samples: int = 0
    capacity: dict[int, tuple[str, int]] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    states: dict[str, str] = field(default_factory=dict)
    parts: list[Future[None]] = field(default_factory=list)
    is_given_up: bool = False

    def is_over(self) -> bool:
        """Return whether all activities are over."""
        return all(each.done() for each in self.parts)

    def wait_for(self, instant: float) -> None:
        """Wait until some seconds after the beginning."""
        while not self.is_given_up and time.time() < self.begun + instant:
            time.sleep(min(1.0, max(0.0, self.begun + instant - time.time())))


@contextmanager
def _watched(service: Service, day: _Day) -> Iterator[None]:
    """Sample the states of leases all the time, and whether usage in Placement exceeds capacity."""

    def look_at_placement() -> None:
        admin, hosts = service.lab.admin, [host.name for host in _HOSTS]
        while not over.wait(4):
            with suppress(ClientException):
                for host, (used, most) in usages(admin, hosts).items():
                    day.oversold += [f"{host}: {name}" for name, amount in used.items() if amount > most[name]]
                day.samples += 1

    def look_at_leases() -> None:
        while not over.wait(1):
            with suppress(requests.RequestException):
                answer = service.ask(service.operator, "GET", "leases?all_projects=true&deleted=true")
                if answer.ok:
                    day.states.update({each["id"]: each["state"] for each in answer.json()["leases"]})

    over = Event()
    threads = [Thread(target=look) for look in (look_at_placement, look_at_leases)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.fixture(scope="module")
def day(service: Service) -> Iterator[_Day]:
    """A hundred leases of all kinds in ten minutes, with early ends and two hosts that die; it has just begun."""
    day = _Day(time.time())
    with ThreadPoolExecutor(len(_JOBS) + len(_FAILURES)) as pool, _watched(service, day):
        day.parts += [pool.submit(_fail, service, day, *failure) for failure in _FAILURES]
        day.parts += [pool.submit(_live, service, day, job) for job in _JOBS]
        yield day
        day.is_given_up = True


@pytest.mark.parametrize("part", range(1, int(_LAST / _PART) + 1))
def test_day_goes_on(day: _Day, part: int) -> None:
    """Nothing is oversold until the day is over. The wait is split, because no single test may take long."""
    wait_until(lambda: day.is_over() or time.time() > day.begun + part * _PART, _PART + 60)
    for each in day.parts:
        if each.done():
            each.result()
    assert day.oversold == []


def test_promises_were_kept(service: Service, day: _Day) -> None:
    """Reservations had their capacity at their start, and all queued leases were done."""
    seen = {number: service.show(lease) for number, lease in day.made.items()}
    kinds = Counter((_JOBS[number].kind, lease["state"]) for number, lease in seen.items())
    print(f"{dict(kinds)}; {day.samples} samples; refused: {sorted(day.refused)}; at the start: {day.capacity}")
    troubles = {
        number: (_JOBS[number].kind, service.history(lease))
        for number, lease in seen.items()
        # If its host died just before its early end, it was waiting for another host.
        if lease["state"] != "done" and not (lease["state"] == "cancelled" and number in day.ended)
    }
    assert day.is_over()
    assert day.samples >= 20
    assert len(day.made) + len(day.refused) == _LEASES
    # Only requests for an immediate start or an early deadline are refused.
    assert {_JOBS[number].kind for number in day.refused} <= {"immediate", "deadline", "reservation"}
    assert len(day.refused) < _LEASES / 4
    reservations = [_JOBS[number] for number in day.made if _JOBS[number].kind == "reservation"]
    assert len(reservations) >= 10
    assert {job.number: day.capacity.get(job.number) for job in reservations if _is_short(day, job)} == {}, troubles
    assert troubles == {}, troubles


def test_nothing_is_left(service: Service, day: _Day) -> None:
    """Nothing is left in Nova, Placement and Keystone when all leases are over."""
    assert day.is_over()
    service.nothing_left()


def _is_short(day: _Day, job: Job) -> bool:
    """Return whether a reservation lacked capacity at its start; its servers may be active a little later."""
    _, held = day.capacity.get(job.number, ("", 0))
    return held != job.nodes


def _fail(service: Service, day: _Day, dies: float, lasts: float, host: str) -> None:
    """Kill a host as soon as it has something of a lease."""
    lab, admin = service.lab, service.lab.admin

    def is_in_use() -> bool:
        time.sleep(1)
        found = admin.compute("GET", "/os-aggregates")["aggregates"]
        return any(host in each["hosts"] for each in found if each["name"].startswith("lease-"))

    day.wait_for(dies)
    assert wait_until(is_in_use, _LENGTH)
    lab.computes_of(host).kill()
    day.wait_for(time.time() + lasts - day.begun)
    # Not in a thread that ends: the kernel ends the processes of a host with the thread that started them.
    lab.ensure_running()


def _live(service: Service, day: _Day, job: Job) -> None:
    """Request a lease, check it at its start, end it when its work is done, and follow it to its end."""
    day.wait_for(job.at)
    if day.is_given_up:
        return
    answer = service.request(service.ada if job.number % 2 else service.bob, **_terms(service, job))
    if answer.status_code != 201:
        assert answer.status_code == 409, answer.text
        day.refused[job.number] = answer.text
        return
    lease: Document = answer.json()["lease"]
    day.made[job.number] = lease
    if job.kind == "reservation":
        day.wait_for(in_epoch(lease["start_date"]) + 1 - day.begun)
        day.capacity[job.number] = (service.state(lease), _held(service, lease, job))

    if job.real is not None and _comes_to(day, lease, _OVER | {"active"}) == "active":
        day.wait_for(time.time() + job.real - day.begun)
        day.ended.add(job.number)
        _end(service, lease, job)
    _comes_to(day, lease, _OVER)


def _comes_to(day: _Day, lease: Document, states: Collection[str]) -> str:
    """Wait until a lease is in one of some states, or all should be over; return its state."""

    def state() -> str:
        return day.states.get(lease["id"], "new")

    wait_until(lambda: day.is_given_up or state() in states, day.begun + _LAST - time.time())
    return state()


def _terms(service: Service, job: Job) -> Document:
    now = int(time.time())
    terms: Document = {"kind": job.kind, "nodes": [{"count": job.nodes, "resources": _NODE}]}
    if job.managed:
        terms["servers"] = [{**service.template(), "count": min(job.nodes, _SERVERS)}]
    if job.kind == "reservation":
        start = now + PREPARATION + job.ahead
        return terms | {"start_date": as_date(start), "end_date": as_date(start + job.duration)}
    if job.kind == "deadline":
        start = now + job.ahead
        deadline = as_date(start + 30 + int(job.slack * job.duration))
        return terms | {"start_date": as_date(start), "duration": job.duration, "deadline": deadline}
    return terms | {"duration": job.duration}


def _held(service: Service, lease: Document, job: Job) -> int:
    """Return how many nodes of a lease have their capacity in Placement."""
    found = 0
    for number in range(job.nodes):
        consumer = names.consumer(lease["id"], number)
        if service.admin.placement("GET", f"/allocations/{consumer}")["allocations"]:
            found += 1
    return found


def _end(service: Service, lease: Document, job: Job) -> None:
    """End a lease before its time: delete its servers or give back its capacity."""
    owner = service.ada if job.number % 2 else service.bob
    if job.managed:
        client = service.client(owner)
        mine = [each["id"] for each in service.servers(owner) if f"lease:{lease['id']}" in each["tags"]]
        for server in mine:
            with suppress(ClientException):
                client.compute("DELETE", f"/servers/{server}")
    else:
        service.ask(owner, "POST", f"leases/{lease['id']}/action", {"end": {}})
