"""Notifications to operators and projects when servers that do not make room are on a lease's hosts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.service.upkeep.occupied_alarm import OCCUPIED
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service

MakeService = Callable[..., Service]

_ALARM = "lease_scheduler.service.upkeep.occupied_alarm"


class Intruders:
    """Servers that do not make room.

    :ivar servers: by host
    :ivar refused: how often a lease was refused a host
    """

    def __init__(self, **servers: str) -> None:
        self.servers = {host.replace("_", "-"): server for host, server in servers.items()}
        self.refused = 0

    def __call__(self, order: AnyOrder, step: str) -> bool:
        """Refuse hosts that have such a server."""
        if isinstance(order, Removal):
            return False
        wanted = set(order.hosts) - order.without
        found = {host: (self.servers[host],) for host in sorted(wanted & self.servers.keys())}
        if step == "hold" and found:
            self.refused += 1
            raise HostsOccupiedError(found)
        return False


def _told(service: Service, event_type: str) -> list[Mapping[str, Any]]:
    return [message.payload for _, message in service.store.waiting_messages() if message.event_type == event_type]


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == _ALARM and each.levelno == logging.WARNING]


def _said_to_the_project(service: Service, lease_id: str) -> str:
    messages = [
        str(message.payload)
        for _, message in service.store.waiting_messages()
        if message.payload.get("lease_id") == lease_id and message.event_type != OCCUPIED
    ]
    return " ".join([str(service.reader.lease(lease_id)), str(service.reader.history(lease_id)), *messages])


def test_a_lease_that_tries_again_and_again(make_service: MakeService, caplog: pytest.LogCaptureFixture) -> None:
    """Each server is reported once, wherever the lease is tried; hosts and servers are shown only to operators."""
    intruders = Intruders(compute_1="server-a", compute_2="server-b")
    service = make_service(before_step=intruders)
    lease_id = service.ask("reservation", 1, 30 * HOUR)
    assert wait_until(lambda: intruders.refused >= 6, LIMIT)
    payloads = _told(service, OCCUPIED)
    told = [(each["host"], tuple(each["servers"])) for payload in payloads for each in payload["hosts"]]
    assert sorted(told) == [("compute-1", ("server-a",)), ("compute-2", ("server-b",))]
    assert {payload["lease_id"] for payload in payloads} == {lease_id}
    assert len(_warnings(caplog)) == 2
    for host, server in (("compute-1", "server-a"), ("compute-2", "server-b")):
        assert any(lease_id in each and host in each and server in each for each in _warnings(caplog))
    assert "server-" not in _said_to_the_project(service, lease_id)
    # Another server is reported.
    intruders.servers["compute-1"] = "server-c"
    assert wait_until(lambda: len(_told(service, OCCUPIED)) == 3, LIMIT)
    intruders.servers.clear()
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)


def test_a_lease_that_goes_on_without_a_host(make_service: MakeService, caplog: pytest.LogCaptureFixture) -> None:
    intruders = Intruders(compute_2="server-b")
    service = make_service(before_step=intruders)
    lease_id = service.ask("reservation", 2, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    assert wait_until(lambda: bool(_told(service, "lease.degraded")), LIMIT)
    assert wait_until(lambda: intruders.refused >= 4, LIMIT)
    (payload,) = _told(service, OCCUPIED)
    assert payload["hosts"] == [{"host": "compute-2", "servers": ["server-b"]}]
    assert len(_warnings(caplog)) == 1
    said = _said_to_the_project(service, lease_id)
    assert "server-b" not in said
    assert "do not give way" in said
    assert len(_told(service, "lease.degraded")) == 1
    intruders.servers.clear()
    assert wait_until(lambda: bool(_told(service, "lease.healed")), LIMIT)
