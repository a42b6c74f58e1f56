"""Leases on a real Nova, requested over REST with tokens of Keystone (haizea 7.5).

Nova's notifications tell when something was done.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

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
)
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import User
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.notifications import NotificationRecorder

pytestmark = pytest.mark.slow

_NAMES = [host.name for host in LAB_HOSTS]

#: Nodes that fill the whole site.
_ALL = [{"count": 4 * len(_NAMES), "resources": QUARTER}]

#: Seconds by which the engine may act late on a busy machine.
_PROMPT = 10.0


def test_the_pool_is_for_leases(service: Service, admin: CloudClient) -> None:
    """A host that was added is in ``freepool``, and ordinary servers do not get there."""
    aggregates = admin.compute("GET", "/os-aggregates")["aggregates"]
    (pool,) = [each for each in aggregates if each["name"] == "freepool"]
    assert sorted(pool["hosts"]) == sorted(_NAMES)
    server = service.client(service.bob).boot("plain", service.lab.flavors["small"])
    assert service.settled([server]) == {server: "ERROR"}
    service.remove_servers([server])


def _work(service: Service, leases: list[Document], duration: int) -> tuple[Document, list[str]]:
    """Run a best-effort lease of the whole site, and return it with its four servers."""
    terms = {"nodes": _ALL, "servers": [{**service.template(), "count": 4}]}
    lease = service.lease(service.ada, kind="best-effort", duration=duration, **terms)
    leases.append(lease)
    service.becomes(lease, "active")
    servers = [server["id"] for server in service.servers(service.ada)]
    assert len(servers) == 4
    return lease, servers


def _created(recorder: NotificationRecorder, server: str) -> float:
    """Return when a server was created according to Nova."""
    return recorder.wait_for("instance.create.end", server).at


def test_reservation(service: Service, leases: list[Document], recorder: NotificationRecorder) -> None:
    """Haizea 7.5, no. 1: two servers run when their reservation begins, alone on their hosts, and are gone after it."""
    (start_date, start), (end_date, end) = in_seconds(PREPARATION + 8), in_seconds(PREPARATION + 18)
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{"count": 2, "exclusive": True, "resources": QUARTER}],
        servers=[{**service.template(), "count": 2}],
    )
    leases.append(lease)
    with _strangers_try(service, service.bob) as guests:
        service.becomes(lease, "active")
        servers = service.servers(service.ada)
        assert [server["status"] for server in servers] == ["ACTIVE"] * 2
        # They are booted in the user's name, and belong to the user.
        assert {server["user_id"] for server in servers} == {service.ada.id}
        hosts = {host_of(server) for server in servers}
        assert len(hosts) == 2
        service.becomes(lease, "done")
    # The start is promised; preparing ahead of it is how the promise is kept.
    assert [_created(recorder, server["id"]) < start for server in servers] == [True] * 2
    for server in servers:
        # The whole requested duration is delivered.
        assert end <= recorder.wait_for("instance.delete.end", server["id"]).at < end + _PROMPT
    assert start <= service.became(lease, "active") < start + _PROMPT
    assert service.servers(service.ada) == []
    assert guests.tried >= 2
    assert [host for host in guests.begun if host in hosts] == []


class _Guests:
    """Servers of a user who tries again and again to get onto hosts of the pool.

    :ivar tried: number of attempts
    :ivar begun: hosts onto which a server got
    """

    def __init__(self) -> None:
        self.tried = 0
        self.begun: list[str | None] = []


@contextmanager
def _strangers_try(service: Service, user: User) -> Iterator[_Guests]:
    """Have a user boot servers of an ordinary flavor all the time."""

    def go_on() -> None:
        while not over.is_set():
            server = client.boot("stranger", service.lab.flavors["small"])
            service.settled([server])
            guests.tried += 1
            if (host := host_of(service.admin.server(server))) is not None:
                guests.begun.append(host)
            service.remove_servers([server])
            over.wait(1)

    client, guests, over = service.client(user), _Guests(), Event()
    thread = Thread(target=go_on)
    thread.start()
    try:
        yield guests
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "how",
    [
        None,
        signal.SIGTERM,
        signal.SIGKILL,
    ],
)
def test_preempted_for_a_reservation_and_back(
    service: Service, leases: list[Document], recorder: NotificationRecorder, how: signal.Signals | None
) -> None:
    """Haizea 7.5, no. 2 and 6: best-effort servers are shelved before a reservation starts, and resumed after it.

    Also if the engine ends in the middle of that, and another one takes over.
    """
    # It is not done when the reservation starts.
    duration = 45
    queued, running = _work(service, leases, duration)
    (start_date, start), (end_date, end) = in_seconds(PREPARATION + 12), in_seconds(PREPARATION + 22)
    reserved = service.lease(
        service.bob,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{"count": 4, "exclusive": True}],
    )
    leases.append(reserved)
    if how is not None:
        recorder.wait_for("instance.shelve.start")
        service.end_engine(how)
        service.start_engine()
    service.becomes(reserved, "active")
    assert [each["status"] for each in service.servers(service.ada)] == ["SHELVED_OFFLOADED"] * 4
    offloaded = [recorder.wait_for("instance.shelve_offload.end", server).at for server in running]
    assert max(offloaded) < start
    begun = service.became(reserved, "active")
    # It is a lease of capacity, so its users boot servers themselves.
    server = service.client(service.bob).boot("mine", service.lab.flavors["small"], hints={"lease": reserved["id"]})
    assert service.settled([server]) == {server: "ACTIVE"}
    service.becomes(reserved, "done")
    assert recorder.wait_for("instance.delete.end", server).at >= end
    service.becomes(queued, "active")
    assert {each["id"]: each["status"] for each in service.servers(service.ada)} == dict.fromkeys(running, "ACTIVE")
    assert min(recorder.wait_for("instance.unshelve.end", each).at for each in running) >= end
    service.becomes(queued, "done", 2 * LIMIT)
    assert abs(service.show(queued)["accumulated"] - duration) <= 1
    assert service.servers(service.ada) == []
    assert [each.event_type for each in recorder.heard() if each.event_type.endswith(".error")] == []
    assert start <= begun < start + _PROMPT


def test_preempted_at_short_notice(service: Service, leases: list[Document], recorder: NotificationRecorder) -> None:
    """A reservation from now on waits until best-effort servers are shelved, and says so; they lose no work."""
    duration = 30
    work, running = _work(service, leases, duration)
    # Let it do work that would be lost if it had to start over.
    time.sleep(5)
    (end_date, _), (_, asked) = in_seconds(PREPARATION + 40), in_seconds(0)
    reserved = service.lease(
        service.bob,
        kind="reservation",
        start_date="now",
        end_date=end_date,
        nodes=[{"count": 4, "exclusive": True}],
    )
    leases.append(reserved)
    told = in_epoch(reserved["start_date"])
    assert told > asked
    assert "later than requested" in reserved["reason"]
    service.becomes(reserved, "active")
    assert [each["status"] for each in service.servers(service.ada)] == ["SHELVED_OFFLOADED"] * 4
    begun = service.became(reserved, "active")
    assert max(recorder.wait_for("instance.shelve_offload.end", server).at for server in running) <= begun
    assert service.ask(service.bob, "DELETE", f"leases/{reserved['id']}").ok
    service.becomes(work, "active")
    assert {each["id"]: each["status"] for each in service.servers(service.ada)} == dict.fromkeys(running, "ACTIVE")
    service.becomes(work, "done", 2 * LIMIT)
    assert abs(service.show(work)["accumulated"] - duration) <= 1
    assert told <= begun < told + _PROMPT


def test_full_site(service: Service, leases: list[Document]) -> None:
    """Haizea 7.5, no. 3: without free capacity an immediate lease is refused at once, and a best-effort one waits."""
    first = service.lease(service.ada, kind="immediate", duration=20, nodes=_ALL)
    leases.append(first)
    begun = time.monotonic()
    refused = service.request(service.bob, kind="immediate", duration=20, nodes=[{"count": 1, "resources": QUARTER}])
    assert time.monotonic() - begun < _PROMPT
    assert refused.status_code == 409, refused.text
    queued = service.lease(service.bob, kind="best-effort", duration=5, nodes=[{"count": 1, "resources": QUARTER}])
    leases.append(queued)
    service.becomes(queued, "done")
    assert service.history(queued)[0]["to"] == "queued"
    assert service.state(first) == "done"
    assert service.became(queued, "active") >= service.became(first, "done")


def test_deadlines(service: Service, leases: list[Document], recorder: NotificationRecorder) -> None:
    """Haizea 7.5, no. 4: an urgent deadline lease preempts one with slack, and not one without."""
    now = int(time.time())
    patient = service.lease(
        service.ada,
        kind="deadline",
        start_date=as_date(now + 2),
        duration=50,
        deadline=as_date(now + 500),
        nodes=_ALL,
        servers=[{**service.template(), "count": 2}],
    )
    leases.append(patient)
    service.becomes(patient, "active")
    servers = [server["id"] for server in service.servers(service.ada)]
    (start_date, start), (deadline, _) = in_seconds(25), in_seconds(25 + 30)
    hurried = service.lease(
        service.bob,
        kind="deadline",
        start_date=start_date,
        duration=20,
        deadline=deadline,
        nodes=_ALL,
    )
    leases.append(hurried)
    # The slack of the urgent lease is 1.5: if it made room for this one, it would miss its deadline.
    refused = service.request(
        service.bob,
        kind="deadline",
        start_date=start_date,
        duration=29,
        deadline=deadline,
        nodes=_ALL,
    )
    assert refused.status_code == 409, refused.text
    service.becomes(hurried, "done")
    late = service.show(hurried)
    assert in_epoch(late["ended_at"]) <= in_epoch(late["deadline"]) + 1
    assert late["accumulated"] == 20
    assert max(recorder.wait_for("instance.shelve_offload.end", each).at for each in servers) <= start + _PROMPT
    service.becomes(patient, "done", 2 * LIMIT)
    assert abs(service.show(patient)["accumulated"] - 50) <= 1


def test_victim_that_cannot_wait(service: Service, leases: list[Document]) -> None:
    """Haizea 7.5, no. 4: other deadline leases do not preempt one without slack."""
    (start_date, _), (deadline, _) = in_seconds(3), in_seconds(3 + 42)
    tight = service.lease(
        service.ada, kind="deadline", start_date=start_date, duration=40, deadline=deadline, nodes=_ALL
    )
    leases.append(tight)
    later_start, _ = in_seconds(8)
    later_end, _ = in_seconds(8 + 30)
    refused = service.request(
        service.bob, kind="deadline", start_date=later_start, duration=20, deadline=later_end, nodes=_ALL
    )
    assert refused.status_code == 409, refused.text
    assert service.state(tight) in ("pending", "ready", "active")


def test_quote_is_what_happens(service: Service, leases: list[Document]) -> None:
    """A quote names hosts and instants that the lease then gets."""
    (start_date, start), (end_date, end) = in_seconds(PREPARATION + 5), in_seconds(PREPARATION + 10)
    terms = {
        "kind": "reservation",
        "start_date": start_date,
        "end_date": end_date,
        "nodes": [{"count": 2, "exclusive": True}],
    }
    answer = service.ask(service.operator, "POST", "quotes", {"name": "asked", **terms})
    assert answer.ok, answer.text
    quote = answer.json()["quote"]
    assert (quote["granted"], in_epoch(quote["start"]), in_epoch(quote["end"])) == (True, start, end)
    assert service.ask(service.operator, "GET", "leases").json()["leases"] == []
    lease = service.lease(service.ada, **terms)
    leases.append(lease)
    (holding,) = service.show(lease)["holdings"]
    assert sorted(holding["hosts"]) == sorted(quote["hosts"])
    service.becomes(lease, "done")
    assert start <= service.became(lease, "active") < start + _PROMPT
    assert end <= service.became(lease, "done") < end + _PROMPT


def test_nothing_is_left(service: Service) -> None:
    """Nothing is left in Nova, Placement and Keystone when all leases are over."""
    service.nothing_left()
