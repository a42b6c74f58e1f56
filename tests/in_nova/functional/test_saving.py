"""Images of servers before and at the end of their lease, on a real Nova and Placement."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest import mock
from uuid import uuid4

from novaclient.exceptions import Conflict, Forbidden

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.lease.reservations import BlazarOptions
from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.orders import Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from tests.in_nova.functional.site import LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite, RealClock

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
        self._end(self._ending())

    def _end(self, order: Order) -> None:
        """Stop a lease, and then remove what it has left for the sake of its images, as the engine does."""
        self.carry_out(order)
        self.carry_out(Removal(2, order.lease_id, order.document, is_over=True))

    def _ending(self) -> Order:
        return self._stopping(("host1",), WHOLE, **self._said)

    def _stopping(self, hosts: tuple[str, ...], resources: Resources, **said: Any) -> Order:
        """Return the order to stop a lease now."""
        order = self.order(OperationKind.STOP, self.lease_id, hosts, resources, **said)
        return replace(order, operation=replace(order.operation, begun=int(time.time())))

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
        self._end(self._stopping(hosts, WHOLE, **said))
        made = {image["instance_uuid"] for image in self._made()}
        assert made == on["host2"]
        assert on["host1"]

    def test_instances(self) -> None:
        """Servers that the tenant booted with the flavor of the lease."""
        said: dict[str, Any] = {"on_end": "snapshot"}
        hosts = ("host1", "host2")
        self.carry_out(self.order(OperationKind.START, self.lease_id, hosts, SMALL, **said))
        servers = [self.boot(names.flavor_id(self.lease_id, 0)) for _ in hosts]
        self._end(self._stopping(hosts, SMALL, **said))
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
        self.driver = self.new_driver(replace(self.options, blazar=replace(self.options.blazar, saves_by_default=True)))
        server = self._start("default")
        self._before_end()
        (image,) = self._made()
        assert image["instance_uuid"] == server.id
        self._stop()

    def test_a_server_is_not_deleted_before_its_image_is_complete(self) -> None:
        server = self._start()
        self.carry_out(self._ending())
        removal = self._removal()
        image = self._upload(removal)
        for _ in range(3):
            assert self.driver.perform(removal, "save") is not None
        assert [each["id"] for each in self._made()] == [image["id"]]
        assert self.nova.servers.get(server.id).status == "SHUTOFF"
        self.images.set_status(image["id"], "active")
        self.carry_out(removal)
        assert self.nova.servers.list() == []
        assert self.failures == []
        self.assert_nothing_is_left()

    def _removal(self) -> Removal:
        return Removal(2, self.lease_id, self._ending().document, is_over=True)

    def _upload(self, removal: Removal) -> dict[str, Any]:
        """Have Nova begin an image at the end of a lease, whose upload takes long, and return it."""
        with mock.patch("nova.compute.manager.ComputeManager.snapshot_instance"):
            assert self.driver.perform(removal, "save") is not None
        (image,) = self._made()
        self.images.set_status(image["id"], "saving")
        return image

    def test_the_next_lease_has_the_host_while_the_image_is_uploaded(self) -> None:
        """Its owner can neither use the server nor start it, and it counts for nothing in Placement."""
        server = self._start()
        self.carry_out(self._ending())
        assert not any(self.used("host1").values())
        stopped = self.nova.servers.get(server.id)
        assert (stopped.status, stopped.locked) == ("SHUTOFF", True)
        image = self._upload(self._removal())
        following = str(uuid4())
        order = self.order(OperationKind.START, following, ("host1",), WHOLE, late=100)
        order = replace(order, document=replace(order.document, project_id="other-project"))
        self.carry_out(order)
        strangers = Strangers(self.nova, dict).look(self.nova.aggregates.list())
        assert strangers == []
        self.images.set_status(image["id"], "active")
        self.carry_out(self._removal())
        assert self.nova.servers.list() == []
        assert [each["id"] for each in self._made()] == [image["id"]]

    def test_the_next_lease_of_the_same_project_leaves_it_alone(self) -> None:
        """It is on a host of the project's next lease, with an ordinary flavor, but belongs to the lease before."""
        server = self._start()
        self.carry_out(self._ending())
        following = str(uuid4())
        self.carry_out(self.order(OperationKind.START, following, ("host1",), WHOLE))
        self.carry_out(self.order(OperationKind.STOP, following, ("host1",), WHOLE))
        assert [each.id for each in self.nova.servers.list()] == [server.id]
        self.carry_out(self._removal())
        assert self.nova.servers.list() == []
        assert len(self._made()) == 1

    def test_images_that_the_owner_posts_delay_nothing(self) -> None:
        """They have all the properties that the owner can see, are empty, and come again and again."""
        server = self._start()
        for order in (self._ending(), self._removal()):
            for step in self.driver.steps(order):
                end = time.monotonic() + LIMIT
                while self.driver.perform(order, step) is not None:
                    assert time.monotonic() < end, f"{step} does not end"
                    self._post(server)
                    time.sleep(POLL)
        assert self.nova.servers.list() == []
        assert len([each for each in self._made() if each.get("lease_image")]) == 1
        assert self.failures == []

    def test_a_complete_image_that_the_owner_posts_is_no_image_of_the_server(self) -> None:
        server = self._start()
        self._post(server, "active")
        self._stop()
        assert sorted(bool(each.get("lease_image")) for each in self._made()) == [False, True]

    def _post(self, server: Any, status: str = "queued") -> None:
        """Create an image as the owner of a server may."""
        said = {"lease_server": server.id, "lease_moment": "end", "lease_id": self.lease_id, "owner": self.project}
        posted = self.glance.create(None, {"name": f"reserved_{server.name}", "properties": said})
        self.images.set_status(posted["id"], status)

    def test_an_upload_that_died_is_done_once_more(self) -> None:
        self._start()
        self.carry_out(self._ending())
        dead = self._upload(self._removal())
        self.images.set_status(dead["id"], "queued")
        (server,) = self.nova.servers.list()
        self.nova.servers.reset_state(server, "active")
        with mock.patch("lease_scheduler.cloud.nova.images.snapshots._JUST_BEGUN", 0):
            self.carry_out(self._removal())
        (image,) = self._made()
        assert image["id"] != dead["id"]
        assert (image["status"], self.failures) == ("active", [])

    def test_an_image_that_takes_too_long(self) -> None:
        """The project is told what is lost, once, although it takes some polls until the server is deleted."""
        server = self._start()
        self.carry_out(self._ending())
        self._upload(self._removal())
        delete, refusals = self.nova.servers.delete, iter((Conflict(409), Conflict(409)))

        def busy_at_first(each: Any) -> None:
            for refusal in refusals:
                raise refusal
            delete(each)

        late = mock.patch.object(RealClock, "now", return_value=int(time.time()) + 1801)
        with late, mock.patch.object(self.nova.servers, "delete", busy_at_first):
            self.carry_out(self._removal())
        assert self.nova.servers.list() == []
        ((lease_id, server_id, reason),) = self.failures
        assert (lease_id, server_id) == (self.lease_id, server.id)
        assert "30 min" in reason

    def test_nova_refuses(self) -> None:
        """It is tried three times, and reported; the end does not wait for ever."""
        server = self._start()
        with mock.patch.object(self.nova.servers, "create_image", side_effect=Forbidden(403, "over quota")) as told:
            self._stop()
        assert told.call_count == 3
        ((_, server_id, reason),) = self.failures
        assert server_id == server.id
        assert "over quota" in reason

    def test_an_image_of_the_service_is_handed_over(self) -> None:
        server = self._start()
        create = self.nova.servers.create_image

        def in_own_name(server_id: str, name: str, said: dict[str, str]) -> Any:
            return create(server_id, name, said | {"owner": "service-project"})

        with mock.patch.object(self.nova.servers, "create_image", in_own_name):
            self._stop()
        (image,) = self._made()
        assert (image["owner"], image["instance_uuid"]) == (self.project, server.id)

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
        order = self._stopping(("host1",), SMALL, **said)
        assert self.driver.perform(order, "snapshot") is None
        (image,) = self._made()
        assert (image["name"], image["protected"]) == (f"{server.name}-{server.id}", True)
        # A real Glance refuses what Nova does when it deletes the server.
        with mock.patch.object(self.glance, "delete"):
            self._end(order)
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
