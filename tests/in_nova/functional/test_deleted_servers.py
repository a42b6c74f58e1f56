"""Servers that were deleted, and that Nova keeps for a while in case that their users want them back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.vacating.options import RoomOptions
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import Resources
from tests.in_nova.functional.site import HOSTS, LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite

LARGE = Resources({**SMALL, "MEMORY_MB": 6000})


class DeletedServersTest(NovaSite):
    options = DriverOptions(room=RoomOptions(intruder_patience=3))

    def setUp(self) -> None:
        super().setUp()
        self.flags(reclaim_instance_interval=3600)

    def deleted(self, flavor_id: str, host: str | None = None, **hints: str) -> Any:
        """Boot a server, have its user delete it, and return it."""
        server = self.boot(flavor_id, scheduler_hints=hints)
        assert (server.status, host) in {("ACTIVE", None), ("ACTIVE", self.host_of(server))}
        server.delete()
        end = time.monotonic() + LIMIT
        while (found := self.nova.servers.get(server.id)).status != "SOFT_DELETED":
            assert time.monotonic() < end
            time.sleep(POLL)
        return found

    def begun(self, kind: OperationKind, lease_id: str, hosts: tuple[str, ...], resources: Resources) -> Order:
        """Return an order that begins now."""
        order = self.order(kind, lease_id, hosts, resources, late=0)
        return replace(order, operation=replace(order.operation, begun=int(time.time())))

    def assert_gone(self, server: Any) -> None:
        with pytest.raises(NotFound):
            server.restore()

    def test_guests_do_not_keep_their_room(self) -> None:
        guest = self.nova.flavors.create("guest", 4000, 1, 1)
        guest.set_keys({"lease:preemptible": "true"})
        for resources in (LARGE, WHOLE):
            server = self.deleted(guest.id)
            hosts, lease_id = (str(self.host_of(server)),), str(uuid4())
            self.carry_out(self.begun(OperationKind.START, lease_id, hosts, resources))
            self.assert_gone(server)
            self.carry_out(self.order(OperationKind.STOP, lease_id, hosts, resources))
        self.assert_nothing_is_left()

    def test_ordinary_servers_do(self) -> None:
        """Their users rely on restoring them."""
        self.driver.set_pool(HOSTS[1:])
        server = self.deleted("3", "host1")
        self.driver.set_pool(HOSTS)
        for resources in (LARGE, WHOLE):
            with pytest.raises(HostsOccupiedError) as caught:
                self.carry_out(self.begun(OperationKind.START, str(uuid4()), ("host1",), resources))
            assert caught.value.servers == {"host1": (server.id,)}
        server.restore()
        assert self.host_of(server) == "host1"

    def test_a_lease_ends_with_them(self) -> None:
        """Its user can neither keep it from ending nor come back to its host."""
        for resources, of_lease in ((WHOLE, False), (SMALL, True)):
            lease_id = str(uuid4())
            self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), resources))
            wanted = names.flavor_id(lease_id, 0) if of_lease else ORDINARY
            server = self.deleted(wanted, "host1", lease=lease_id)
            running = None if of_lease else self.boot(wanted, scheduler_hints={"lease": lease_id})
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), resources))
            self.assert_gone(server)
            if running is not None:
                self.assert_gone(running)
        self.assert_nothing_is_left()

    def test_one_that_is_restored_while_the_lease_ends(self) -> None:
        """Nova has two lists, and the server is in the other one of them each time."""
        ask = self.driver._common.servers.restorable
        for question in (1, 2):
            lease_id = str(uuid4())
            self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL))
            server = self.deleted(names.flavor_id(lease_id, 0), "host1")
            asked: list[Any] = []

            def answer(known: Any, question: int = question, server: Any = server, asked: list[Any] = asked) -> Any:
                asked.append(known)
                if len(asked) == question:
                    server.restore()
                    end = time.monotonic() + LIMIT
                    while self.nova.servers.get(server.id).status != "ACTIVE":
                        assert time.monotonic() < end
                        time.sleep(POLL)
                return ask(known)

            with mock.patch.object(self.driver._common.servers, "restorable", answer):
                self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))
            assert len(asked) > question
            self.assert_gone(server)
        self.assert_nothing_is_left()

    def test_a_lease_leaves_its_hosts_without_them(self) -> None:
        for kind in (OperationKind.SUSPEND, OperationKind.ADJUST):
            lease_id = str(uuid4())
            self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host2"), SMALL))
            left, stays = (
                self.deleted(names.flavor_id(lease_id, 0), host, **{"lease:host": host}) for host in ("host1", "host2")
            )
            self.carry_out(self.order(kind, lease_id, ("host2", "host2"), SMALL))
            self.assert_gone(left)
            if kind is OperationKind.ADJUST:
                stays.restore()
            else:
                self.assert_gone(stays)
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2", "host2"), SMALL))
            assert self.nova.servers.list() == []
        self.assert_nothing_is_left()
