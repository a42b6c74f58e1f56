"""Images of servers before and at the end of their lease, on a real Nova and Placement."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest import mock
from uuid import uuid4

from novaclient.exceptions import Forbidden

from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.driver import DriverOptions
from lease_scheduler.cloud.nova.reservations import BlazarOptions
from lease_scheduler.cloud.orders import Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from tests.in_nova.functional.site import LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite

_BEFORE_END = 1_000_000


def _hosts(before_end: str, count: int = 1, first: int = 0) -> ReservationRecord:
    terms = {"before_end": before_end, "min": count, "max": count}
    return ReservationRecord(str(uuid4()), "physical:host", "r", terms, 1, 0, first_node=first, node_count=count)


class _Saving(NovaSite):
    """The tenant boots with a hint on hosts that a reservation has for itself."""

    def setUp(self) -> None:
        super().setUp()
        self.lease_id = str(uuid4())
        self.at_first = {image["id"] for image in self.images.all()}
        self.failures: list[tuple[str, str, str]] = []
        self.driver._snapshots.on_failure = lambda *told: self.failures.append(told)

    def _made(self) -> list[dict[str, Any]]:
        return [image for image in self.images.all() if image["id"] not in self.at_first]

    def _start(self, before_end: str = "snapshot", **said: Any) -> Any:
        """Start a reservation of a host with a server of its project; return the server."""
        self._said = {"reservations": (_hosts(before_end),), "before_end": _BEFORE_END, **said}
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1",), WHOLE, **self._said))
        server = self.boot(ORDINARY, scheduler_hints={"lease": self.lease_id})
        assert self.host_of(server) == "host1"
        return server

    def _before_end(self) -> None:
        self._said["before_end_done"] = True
        self.carry_out(self.order(OperationKind.SNAPSHOT, self.lease_id, ("host1",), WHOLE, **self._said))

    def _stop(self) -> None:
        self.carry_out(self._ending())

    def _ending(self, begun: int | None = None) -> Order:
        order = self.order(OperationKind.STOP, self.lease_id, ("host1",), WHOLE, **self._said)
        return replace(order, operation=replace(order.operation, begun=int(time.time()) if begun is None else begun))

    def test_before_the_end(self) -> None:
        """One image with Blazar's name, of the server's project; the end of the lease makes no second one."""
        server = self._start()
        self._before_end()
        (image,) = self._made()
        assert (image["name"], image["owner"]) == (f"reserved_{server.name}", self.project)
        assert image["instance_uuid"] == server.id
        assert self.nova.servers.get(server.id).status == "ACTIVE"
        self._stop()
        assert self.nova.servers.list() == []
        assert [each["id"] for each in self._made()] == [image["id"]]
        assert self.failures == []
        self.assert_nothing_is_left()

    def test_only_hosts_of_the_reservation_that_wants_it(self) -> None:
        said: dict[str, Any] = {"reservations": (_hosts(""), _hosts("snapshot", first=1)), "before_end": _BEFORE_END}
        hosts = ("host1", "host2")
        self.carry_out(self.order(OperationKind.START, self.lease_id, hosts, WHOLE, **said))
        on: dict[str, set[str]] = {host: set() for host in hosts}
        while not all(on.values()):
            server = self.boot(ORDINARY, scheduler_hints={"lease": self.lease_id})
            on[str(self.host_of(server))].add(server.id)
        self.carry_out(self.order(OperationKind.STOP, self.lease_id, hosts, WHOLE, **said))
        made = {image["instance_uuid"] for image in self._made()}
        assert made == on["host2"]
        assert on["host1"]

    def test_instances(self) -> None:
        """Servers that the tenant booted with the flavor of the lease."""
        said: dict[str, Any] = {"on_end": "snapshot"}
        hosts = ("host1", "host2")
        self.carry_out(self.order(OperationKind.START, self.lease_id, hosts, SMALL, **said))
        servers = [self.boot(names.flavor_id(self.lease_id, 0)) for _ in hosts]
        self.carry_out(self.order(OperationKind.STOP, self.lease_id, hosts, SMALL, **said))
        assert {image["instance_uuid"] for image in self._made()} == {each.id for each in servers}
        assert {image["owner"] for image in self._made()} == {self.project}


class SavingTest(_Saving):
    """With flavors of leases only; including all failures."""

    def test_an_end_that_comes_before_its_time(self) -> None:
        server = self._start()
        self._stop()
        (image,) = self._made()
        assert (image["name"], image["instance_uuid"]) == (f"reserved_{server.name}", server.id)

    def test_nothing_is_wanted(self) -> None:
        """Neither the reservation nor, without a default, the operator asks for it."""
        for before_end in ("", "default"):
            self.lease_id = str(uuid4())
            self._start(before_end)
            self._before_end()
            self._stop()
        assert self._made() == []

    def test_the_default_of_the_operator(self) -> None:
        with mock.patch.object(self.driver._steps._saving, "_by_default", True):
            server = self._start("default")
            self._before_end()
            (image,) = self._made()
            assert image["instance_uuid"] == server.id
            self._stop()

    def test_a_server_is_not_deleted_before_its_image_is_complete(self) -> None:
        server = self._start()
        self._before_end()
        (image,) = self._made()
        self.images.set_status(image["id"], "saving")
        order = self._ending()
        for step in ("close", "keep"):
            assert self.driver.perform(order, step) is None
        for _ in range(3):
            assert self.driver.perform(order, "snapshot") is not None
        assert [each["id"] for each in self._made()] == [image["id"]]
        self.images.set_status(image["id"], "active")
        assert self.driver.perform(order, "snapshot") is None
        assert self.nova.servers.get(server.id).status == "ACTIVE"
        assert self.failures == []

    def test_an_upload_that_died_is_done_once_more(self) -> None:
        self._start()
        self._before_end()
        (dead,) = self._made()
        self.images.set_status(dead["id"], "queued")
        with mock.patch("lease_scheduler.cloud.nova.snapshots._JUST_BEGUN", 0.0):
            self._stop()
        (image,) = self._made()
        assert image["id"] != dead["id"]
        assert (image["status"], self.failures) == ("active", [])

    def test_an_image_that_takes_too_long(self) -> None:
        """The hosts belong to other leases by then; the project is told what is lost."""
        server = self._start()
        self._before_end()
        (image,) = self._made()
        self.images.set_status(image["id"], "saving")
        order = self._ending(begun=int(time.time()) - 1801)
        assert self.driver.perform(order, "snapshot") is None
        ((lease_id, server_id, reason),) = self.failures
        assert (lease_id, server_id) == (self.lease_id, server.id)
        assert "30 min" in reason

    def test_nova_refuses(self) -> None:
        """It is tried three times, and reported; the end does not wait for ever."""
        server = self._start()
        with mock.patch.object(self.nova.servers, "create_image", side_effect=Forbidden(403, "over quota")) as told:
            order = self._ending()
            end = time.monotonic() + LIMIT
            while self.driver.perform(order, "snapshot") is not None:
                assert time.monotonic() < end
        assert told.call_count == 3
        ((_, server_id, reason),) = self.failures
        assert server_id == server.id
        assert "over quota" in reason

    def test_somebody_elses_image_is_none(self) -> None:
        """Any user may give their own image the properties of another project's server."""
        server = self._start()
        properties = {"lease_server": server.id, "lease_moment": "end", "owner": "mallory", "instance_uuid": server.id}
        self.glance.create(None, {"name": f"reserved_{server.name}", "properties": properties})
        self._stop()
        assert sorted(image["owner"] for image in self._made()) == sorted([self.project, "mallory"])

    def test_an_image_of_the_service_is_handed_over(self) -> None:
        server = self._start()
        properties = {"lease_server": server.id, "lease_moment": "end", "owner": "service-project"}
        self.glance.create(None, {"name": f"reserved_{server.name}", "properties": properties})
        self._stop()
        (image,) = self._made()
        assert image["owner"] == self.project

    def test_a_server_that_its_owner_has_shelved(self) -> None:
        """Nova makes no image of it, and deletes the image that it has: that one is kept."""
        said: dict[str, Any] = {"on_end": "snapshot"}
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1",), SMALL, **said))
        server = self.boot(names.flavor_id(self.lease_id, 0))
        self.nova.servers.shelve(server)
        end = time.monotonic() + LIMIT
        while self.nova.servers.get(server.id).status != "SHELVED_OFFLOADED":
            assert time.monotonic() < end
            time.sleep(POLL)
        order = self.order(OperationKind.STOP, self.lease_id, ("host1",), SMALL, **said)
        assert self.driver.perform(order, "snapshot") is None
        (image,) = self._made()
        assert (image["name"], image["protected"]) == (f"{server.name}-{server.id}", True)
        # A real Glance refuses what Nova does when it deletes the server.
        with mock.patch.object(self.glance, "delete"):
            self.carry_out(order)
        (image,) = self._made()
        assert (image["protected"], image["lease_server"], self.failures) == (False, server.id, [])

    def test_a_suspended_lease_that_is_cancelled(self) -> None:
        said: dict[str, Any] = {"on_end": "snapshot"}
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1",), SMALL, **said))
        server = self.boot(names.flavor_id(self.lease_id, 0))
        self.carry_out(self.order(OperationKind.SUSPEND, self.lease_id, ("host1",), SMALL, **said))
        document = LeaseDocument(self.lease_id, "lease", self.project, "user", 0, **said)
        with mock.patch.object(self.glance, "delete"):
            self.carry_out(Removal(1, self.lease_id, document, is_over=True))
        assert self.nova.servers.list() == []
        (image,) = self._made()
        assert (image["lease_server"], image["name"]) == (server.id, f"{server.name}-{server.id}")
        self.assert_nothing_is_left()


class SavingWithProfileTest(_Saving):
    """As in Blazar: with aggregates and availability zones of reservations."""

    options = DriverOptions(blazar=BlazarOptions(profile=True))
