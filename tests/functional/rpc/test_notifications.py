"""Notifications as a listener of oslo.messaging receives them over RabbitMQ, sent by a real engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lease_scheduler.cmd import messaging, wiring
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.service.leading import EngineService
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.functional.service.programs import CONTEXT, LIMIT, Document, Programs, insist
from tests.servers.base import Server, wait_until

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: Keys of ``format_lease_payload`` in Blazar (blazar/notification/api.py), which its listeners expect.
BLAZAR = {
    "lease_id",
    "user_id",
    "project_id",
    "trust_id",
    "start_date",
    "end_date",
    "status",
    "reservations",
    "events",
    "name",
    "created_at",
    "updated_at",
    "degraded",
}

#: Blazar's keys of each reservation of instances, and of each event.
BLAZAR_RESERVATION = {
    *("id", "lease_id", "resource_id", "resource_type", "status", "missing_resources", "resources_changed"),
    *("created_at", "updated_at", "vcpus", "memory_mb", "disk_gb", "amount", "affinity", "flavor_id"),
    *("aggregate_id", "server_group_id", "resource_properties"),
}
BLAZAR_EVENT = {"id", "lease_id", "event_type", "time", "status", "created_at", "updated_at"}

_DATE = "%Y-%m-%dT%H:%M:%S.%f"

#: The schema of version 1.4: every field and the types that its value may have.
FIELDS: dict[str, tuple[type, ...]] = {
    "payload_version": (str,),
    "lease_id": (str,),
    "name": (str,),
    "project_id": (str,),
    "user_id": (str,),
    "trust_id": (str, type(None)),
    "start_date": (str,),
    "end_date": (str,),
    "status": (str,),
    "reservations": (list,),
    "events": (list,),
    "created_at": (str,),
    "updated_at": (str, type(None)),
    "kind": (str,),
    "state": (str,),
    "reason": (str,),
    "degraded": (bool,),
    "start": (int, type(None)),
    "end": (int, type(None)),
    "price": (float, type(None)),
    "description": (str, type(None)),
    "origin": (str, type(None)),
    "on_behalf_of": (dict, type(None)),
    "path": (list, type(None)),
    "pool": (str, type(None)),
    "min_lifetime": (int, type(None)),
    "assurance": (float, type(None)),
    "assured": (str, type(None)),
    "offered_until": (int, type(None)),
    "negotiation_id": (str, type(None)),
    "approval": (str, type(None)),
    "instant": (int,),
}


class Listener:
    """Collects what arrives on the topic, in order."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, Document]] = []

    def info(self, context: Document, publisher: str, event_type: str, payload: Document, metadata: Document) -> None:
        assert metadata["message_id"]
        assert metadata["timestamp"]
        self.heard.append((publisher, event_type, payload))

    def about(self, lease: Document) -> list[str]:
        """Return the types of a lease's notifications, each once: a message may come twice."""
        types = [kind for _, kind, payload in self.heard if payload["lease_id"] == lease["id"]]
        return list(dict.fromkeys(types))


@pytest.fixture
def programs(tmp_path: Path, rabbitmq_url: str) -> Iterator[Programs]:
    made = Programs(tmp_path, f"sqlite:///{tmp_path}/database.sqlite", rabbitmq_url)
    yield made
    made.close()


@pytest.fixture
def listener(programs: Programs) -> Iterator[Listener]:
    with _listening(programs, "lease_notifications") as heard:
        yield heard


@contextmanager
def _listening(programs: Programs, topic: str) -> Iterator[Listener]:
    # Our own modules have to be imported first: they select threads for oslo.messaging.
    import oslo_messaging

    transport = messaging.notification_transport(programs.load())
    heard = Listener()
    target = oslo_messaging.Target(topic=topic)
    listening = oslo_messaging.get_notification_listener(transport, [target], [heard])
    listening.start()
    try:
        yield heard
    finally:
        listening.stop()
        listening.wait()
        transport.cleanup()


@pytest.fixture
def engine(programs: Programs) -> Iterator[EngineService]:
    """An engine in the process of the test."""
    service = wiring.engine_service(programs.load(), "engine")
    service.start()
    programs.register(programs.client())
    yield service
    service.stop()


def test_every_transition_is_told_in_the_form_that_is_promised(
    programs: Programs, listener: Listener, engine: EngineService
) -> None:
    client = programs.client()
    lease = lease_document("näme", "immediate", duration=8)
    client.create_lease(CONTEXT, lease)
    client.update_lease(CONTEXT, lease["id"], {"name": "other"})
    refused = lease_document("too large", "immediate", 99, duration=8)
    with pytest.raises(RefusedError):
        client.create_lease(CONTEXT, refused)
    whole = ["lease.create", "lease.event.start_lease", "lease.update", "lease.event.end_lease"]
    assert wait_until(lambda: sorted(listener.about(lease)) == sorted(whole), LIMIT), listener.heard
    assert listener.about(refused) == []
    for publisher, event_type, payload in listener.heard:
        assert publisher == "blazar.lease.engine"
        state_before = payload.pop("state_before", None)
        assert (state_before is None) == (event_type == "lease.update")
        assert payload.keys() == FIELDS.keys()
        for name, types in FIELDS.items():
            assert type(payload[name]) in types, name
        assert payload["payload_version"] == "1.10"
    states = [payload["state"] for _, kind, payload in listener.heard if kind == "lease.event.end_lease"]
    assert states == ["done"]


def test_an_engine_that_stops_leaves_no_connection(programs: Programs) -> None:
    def heartbeats() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "Rabbit-heartbeat"}

    before = heartbeats()
    service = wiring.engine_service(programs.load(), "engine")
    service.start()
    client = programs.client()
    programs.register(client)
    client.create_lease(CONTEXT, lease_document("short", "immediate", duration=1))
    store = SqlStore(programs.database, programs.load().service.site)
    assert wait_until(lambda: not store.waiting_messages(), LIMIT)
    assert heartbeats() > before
    service.stop()
    programs.close()
    assert heartbeats() <= before


def test_listeners_of_blazar_find_what_they_look_for(
    programs: Programs, listener: Listener, engine: EngineService
) -> None:
    """Every key of Blazar's payload, dates in its format, and the event that withdraws a reminder."""
    client = programs.client()
    now = int(time.time())
    start, end = now + 2, now + 3600
    lease = lease_document("for listeners", "reservation", start=start, end=end, before_end=now + 4)
    client.create_lease(CONTEXT, lease)
    assert wait_until(lambda: "lease.event.before_end_lease" in listener.about(lease), LIMIT), listener.heard
    client.update_lease(CONTEXT, lease["id"], {"end": end + 3600})
    stopped = "lease.event.before_end_lease.stop"
    assert wait_until(lambda: stopped in listener.about(lease), LIMIT), listener.heard
    for _, event_type, payload in listener.heard:
        assert payload.keys() >= BLAZAR
        (reservation,) = payload["reservations"]
        assert reservation.keys() >= BLAZAR_RESERVATION
        assert {event["event_type"] for event in payload["events"]} == {"start_lease", "end_lease", "before_end_lease"}
        assert all(event.keys() == BLAZAR_EVENT for event in payload["events"])
        begun = datetime.strptime(payload["start_date"], _DATE).replace(tzinfo=UTC)
        assert begun.timestamp() == start
        is_later = event_type in ("lease.update", stopped)
        ended = datetime.strptime(payload["end_date"], _DATE).replace(tzinfo=UTC)
        assert ended.timestamp() == end + (3600 if is_later else 0)
    told = {kind: payload for _, kind, payload in listener.heard}
    assert (told["lease.create"]["status"], told["lease.create"]["reservations"][0]["status"]) == ("PENDING", "pending")
    assert told["lease.event.start_lease"]["status"] == "ACTIVE"
    assert _status_of(told["lease.event.before_end_lease"], "before_end_lease") == "DONE"
    assert _status_of(told[stopped], "before_end_lease") == "UNDONE"


def _status_of(payload: Document, event_type: str) -> str:
    (found,) = [event["status"] for event in payload["events"] if event["event_type"] == event_type]
    return str(found)


_OSLO = "[oslo_messaging_notifications]\n"


@pytest.mark.parametrize(
    ("lines", "topic"),
    [
        (f"{_OSLO}topics = elsewhere\n", "elsewhere"),
        (f"{_OSLO}topics = elsewhere\n[service]\nnotification_topics = ours\n", "ours"),
        (f"{_OSLO}driver = messagingv2\ndriver = log\n", "lease_notifications"),
    ],
)
def test_topics_and_drivers_are_those_of_the_operator(
    tmp_path: Path, rabbitmq_url: str, lines: str, topic: str
) -> None:
    with _site(tmp_path, rabbitmq_url, lines) as programs, _listening(programs, topic) as heard:
        lease = lease_document("elsewhere", "immediate", duration=600)
        programs.client().create_lease(CONTEXT, lease)
        assert wait_until(lambda: "lease.event.start_lease" in heard.about(lease), LIMIT), heard.heard


@pytest.mark.parametrize("driver", ["noop", "log"])
def test_drivers_that_need_no_broker(
    tmp_path: Path, rabbitmq_url: str, caplog: pytest.LogCaptureFixture, driver: str
) -> None:
    caplog.set_level("INFO", "oslo.messaging.notification")
    lines = f"{_OSLO}driver = {driver}\n"
    with _site(tmp_path, rabbitmq_url, lines) as programs, _listening(programs, "lease_notifications") as heard:
        lease = lease_document("logged", "immediate", duration=600)
        programs.client().create_lease(CONTEXT, lease)
        assert wait_until(lambda: programs.state(lease) == "active", LIMIT)
        assert wait_until(lambda: not SqlStore(programs.database).waiting_messages(), LIMIT)
        assert heard.heard == []
    logged = {record.name for record in caplog.records if lease["id"] in record.getMessage()}
    expected = {"lease.create", "lease.event.start_lease"} if driver == "log" else set()
    assert logged == {f"oslo.messaging.notification.{kind}" for kind in expected}


@contextmanager
def _site(folder: Path, rabbitmq_url: str, lines: str) -> Iterator[Programs]:
    """A site with an engine in the process of the test."""
    programs = Programs(folder, f"sqlite:///{folder}/database.sqlite", rabbitmq_url, lines=lines)
    service = wiring.engine_service(programs.load(), "engine")
    service.start()
    try:
        programs.register(programs.client())
        yield programs
    finally:
        service.stop()
        programs.close()


def test_nothing_is_told_of_work_that_was_rolled_back(
    programs: Programs, listener: Listener, engine: EngineService
) -> None:
    client = programs.client()
    thief = SqlStore(programs.database)
    lease = lease_document("asked for twice", "immediate", duration=600)
    epoch = thief.take_over("thief", int(time.time()))
    with pytest.raises(EngineUnavailableError):
        client.create_lease(CONTEXT, lease)
    assert programs.state(lease) is None
    # The engine notices that it was deposed, pauses, and leads again.
    assert wait_until(lambda: programs.leader()[0] > epoch, LIMIT)
    other = lease_document("asked for once", "immediate", duration=600)
    insist(lambda: client.create_lease(CONTEXT, other))
    assert wait_until(lambda: "lease.event.start_lease" in listener.about(other), LIMIT)
    assert listener.about(lease) == []
    assert programs.state(lease) is None


def test_what_waits_is_sent_when_the_broker_is_back(
    programs: Programs, listener: Listener, engine: EngineService, rabbitmq_server: Server
) -> None:
    client = programs.client()
    now = int(time.time())
    lease = lease_document("starts without a broker", "reservation", start=now + 4, end=now + 7200)
    client.create_lease(CONTEXT, lease)
    rabbitmq_server.kill()
    # Planned events happen even if their notifications cannot be sent.
    assert wait_until(lambda: programs.state(lease) == "active", LIMIT)
    assert SqlStore(programs.database).waiting_messages()
    rabbitmq_server.ensure_running()
    assert wait_until(lambda: listener.about(lease) == ["lease.create", "lease.event.start_lease"], LIMIT), (
        listener.heard
    )
    assert wait_until(lambda: not SqlStore(programs.database).waiting_messages(), LIMIT)


def test_a_request_that_nobody_waits_for_any_more_is_not_carried_out(programs: Programs, rabbitmq_url: str) -> None:
    service = wiring.engine_service(programs.load(), "engine")
    service.start()
    programs.register(programs.client())
    assert service.plan is not None
    site = service.plan
    lease = lease_document("too late", "immediate", duration=600)
    try:
        with site.lock, pytest.raises(EngineUnavailableError):
            # The planner is busy for longer than a client waits.
            programs.client(timeout=1.0).create_lease(CONTEXT, lease)
        other = lease_document("in time", "immediate", duration=600)
        programs.client().create_lease(CONTEXT, other)
        assert programs.state(other) is not None
        assert programs.state(lease) is None
    finally:
        service.stop()
