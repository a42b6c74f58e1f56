"""Hosts that go to sleep and wake, as a real Nova sees them: services, servers that keep a host awake, no outage."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api.host_services import ASLEEP
from lease_scheduler.engine.interfaces import EventKind, OperationKind
from tests.in_nova.functional.site import LIMIT, ORDINARY, POLL, SMALL, NovaSite

HOST = "host2"


def _calls(services: Any) -> tuple[Any, ...]:
    return services.is_vacant, services.close, services.open, services.is_open, services.heartbeat


class _Site(NovaSite):
    def setUp(self) -> None:
        super().setUp()
        # A server that is shelved keeps its host until its owner says otherwise.
        self.flags(shelved_offload_time=-1)
        self.driver.set_pool([])
        self.services = self.driver.services

    def service(self, host: str = HOST) -> Any:
        (found,) = self.nova.services.list(host=host, binary="nova-compute")
        return found

    def said_of(self, host: str = HOST) -> tuple[str, str | None]:
        service = self.service(host)
        return service.status, service.disabled_reason

    def on(self, host: str = HOST) -> Any:
        """Boot a server of no lease on a host."""
        server = self.boot(ORDINARY, availability_zone=f"nova:{host}")
        assert self.host_of(server) == host
        return server

    def becomes(self, server: Any, *wanted: str) -> None:
        end = time.monotonic() + LIMIT
        while (status := self.nova.servers.get(server.id).status) not in wanted:
            assert time.monotonic() < end, status
            time.sleep(POLL)


class ServicesTest(_Site):
    """Compute services are disabled with our reason, and no other reason is ours to change."""

    def test_a_host_is_closed_and_opened(self) -> None:
        for _ in range(2):
            assert self.services.close(HOST)
            assert self.said_of() == ("disabled", ASLEEP)
        assert not self.services.is_open(HOST)
        assert self.services.closed() == {HOST}
        assert self.boot(ORDINARY, availability_zone=f"nova:{HOST}").status == "ERROR"
        for _ in range(2):
            self.services.open(HOST)
            assert self.said_of() == ("enabled", None)
        assert self.services.is_open(HOST)
        assert self.services.closed() == frozenset()

    def test_the_reason_of_an_operator_stays(self) -> None:
        for reason in ("a disk fails", f"{ASLEEP} no more", None):
            if reason is None:
                self.nova.services.disable(self.service().id)
            else:
                self.nova.services.disable_log_reason(self.service().id, reason)
            assert not self.services.close(HOST)
            self.services.open(HOST)
            assert self.said_of() == ("disabled", reason)
            assert not self.services.is_open(HOST)
            assert self.services.closed() == frozenset()
            self.nova.services.enable(self.service().id)

    def test_an_operator_takes_over_a_host_that_sleeps(self) -> None:
        assert self.services.close(HOST)
        self.nova.services.disable_log_reason(self.service().id, "a disk fails")
        assert not self.services.close(HOST)
        self.services.open(HOST)
        assert self.said_of() == ("disabled", "a disk fails")

    def test_a_service_is_heard_only_while_it_runs(self) -> None:
        assert self.services.heartbeat(HOST) is not None
        self.nova.services.force_down(self.service().id, True)
        assert self.services.heartbeat(HOST) is None

    def test_a_host_that_is_removed_from_nova(self) -> None:
        for call in _calls(self.services):
            with pytest.raises(LookupError, match="no compute host elsewhere in Nova"):
                call("elsewhere")


class VacancyTest(_Site):
    """A host with any server is not vacant."""

    def test_servers_of_no_lease_in_every_state(self) -> None:
        assert self.services.is_vacant(HOST)
        server = self.on()
        assert not self.services.is_vacant(HOST)
        server.stop()
        self.becomes(server, "SHUTOFF")
        assert not self.services.is_vacant(HOST)
        server.shelve()
        self.becomes(server, "SHELVED")
        assert not self.services.is_vacant(HOST)
        self.nova.servers.shelve_offload(server)
        self.becomes(server, "SHELVED_OFFLOADED")
        self.assert_vacant()

    def test_a_server_that_may_come_back_from_a_resize(self) -> None:
        server = self.on()
        server.resize("2")
        self.becomes(server, "VERIFY_RESIZE")
        there = self.host_of(server)
        assert there is not None and there != HOST
        assert not self.services.is_vacant(HOST)
        assert not self.services.is_vacant(there)
        server.confirm_resize()
        self.assert_vacant()

    def test_a_server_that_can_be_restored(self) -> None:
        self.flags(reclaim_instance_interval=3600)
        server = self.on()
        server.delete()
        self.becomes(server, "SOFT_DELETED")
        assert not self.services.is_vacant(HOST)
        server.force_delete()
        self.assert_vacant()

    def test_servers_of_another_project_and_of_a_lease(self) -> None:
        nova, self.nova = self.nova, self.client_of("other")
        theirs = self.on()
        self.nova = nova
        assert not self.services.is_vacant(HOST)
        theirs.delete()
        self.assert_vacant()
        self.driver.set_pool([HOST])
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, (HOST,), SMALL))
        assert not self.services.is_vacant(HOST)

    def assert_vacant(self) -> None:
        end = time.monotonic() + LIMIT
        while not self.services.is_vacant(HOST):
            assert time.monotonic() < end, "the host stays occupied"
            time.sleep(POLL)


class WatcherTest(_Site):
    """A host that sleeps is no outage; one that does not, for another reason, is."""

    def test_a_host_that_sleeps_is_not_reported(self) -> None:
        told: list[DriverEvent] = []

        def is_told(kind: EventKind, host: str) -> bool:
            end = time.monotonic() + LIMIT
            while not any((each.kind, each.host) == (kind, host) for each in told):
                if time.monotonic() > end:
                    return False
                time.sleep(POLL)
            return True

        # It slept before the engine started, and its service has been silent for long.
        assert self.services.close(HOST)
        self.nova.services.force_down(self.service().id, True)
        self.driver.events.start(told.append)
        self.addCleanup(self.driver.events.stop)
        assert is_told(EventKind.HOST_UP, "host3")
        self.nova.services.disable_log_reason(self.service("host3").id, "a disk fails")
        assert is_told(EventKind.HOST_CLOSED, "host3")
        assert HOST not in {each.host for each in told}
        # It wakes.
        self.nova.services.force_down(self.service().id, False)
        self.services.open(HOST)
        assert is_told(EventKind.HOST_UP, HOST)
        # It sleeps again, and an operator takes it out of service.
        told.clear()
        assert self.services.close(HOST)
        time.sleep(1.0)
        assert told == []
        self.nova.services.disable_log_reason(self.service().id, "a disk fails")
        assert is_told(EventKind.HOST_CLOSED, HOST)
