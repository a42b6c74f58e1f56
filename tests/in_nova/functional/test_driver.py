"""Leases on a real Nova and Placement, from start to end.

Run by unittest, because pytest cannot run Nova's test cases.
"""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.orders import Removal
from lease_scheduler.engine.interfaces import EventKind, OperationKind
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from tests.in_nova.functional.site import HOSTS, IMAGE, LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite


class DriverTest(NovaSite):
    times = 2

    def test_hosts_and_flavors(self) -> None:
        found = {each.name: each for each in self.driver.hypervisors()}
        assert set(found) == set(HOSTS)
        first = found["host1"]
        assert (first.vcpus, first.memory_mb, first.local_gb) == (10, 8192, 1028)
        # Nova's allocation ratios of 4, 1 and 1, and 512 MB that it reserves for the host.
        assert first.capacity["VCPU"] == 40
        assert first.capacity["MEMORY_MB"] == 8192 - 512
        assert names.ANCHOR not in first.capacity
        assert first.service_name == "host1"
        assert first.availability_zone == "nova"
        assert "COMPUTE_NODE" in first.traits
        assert [each.name for each in self.driver.hypervisors(["host2", "nobody"])] == ["host2"]
        flavors = self.driver.flavors
        assert flavors["1"].resources == {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}
        assert flavors.get("none") is None

    def test_the_pool(self) -> None:
        assert self.boot(ORDINARY).status == "ERROR"
        self.driver.set_pool(["host1", "host3", "nobody"])
        assert self.host_of(self.boot(ORDINARY)) == "host2"
        (pool,) = self.nova.aggregates.list()
        assert (pool.name, sorted(pool.hosts)) == ("freepool", ["host1", "host3"])

    def test_a_shared_lease_from_its_start_to_its_end(self) -> None:
        lease_id = str(uuid4())
        hosts = ("host1", "host1", "host2")
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL))
        assert self.used("host1")["VCPU"] == 4
        assert self.used("host2")["MEMORY_MB"] == 1024
        assert not any(self.used("host3").values())
        flavor_id = names.flavor_id(lease_id, 0)
        servers = [self.boot(flavor_id) for _ in range(4)]
        assert sorted(server.status for server in servers) == ["ACTIVE", "ACTIVE", "ACTIVE", "ERROR"]
        assert sorted(host for server in servers if (host := self.host_of(server))) == ["host1", "host1", "host2"]
        # Held once, however many of the slots are taken.
        assert self.used("host1")["VCPU"] == 4
        (footprint,) = self.driver.footprints()
        assert (footprint.servers, footprint.hosts) == ("active", frozenset({"host1", "host2"}))
        self.carry_out(self.order(OperationKind.STOP, lease_id, hosts, SMALL))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_servers_beyond_the_slots_of_a_lease_are_shelved_and_end_with_it(self) -> None:
        """Placement grants claims that race; here the slot of one is removed afterwards, with the same effect."""
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host1"), SMALL))
        servers = [self.boot(names.flavor_id(lease_id, 0)) for _ in range(2)]
        assert [server.status for server in servers] == ["ACTIVE", "ACTIVE"]
        self.driver.events.look_for_overdrafts()
        slots = {names.slot_class(lease_id, 0): 1}
        self.held.ensure_slots(names.slots_provider_id("host1"), names.slots_provider("host1"), None, slots)
        self.driver.events.look_for_overdrafts()
        end = time.monotonic() + LIMIT
        while sorted(self.nova.servers.get(server.id).status for server in servers) != ["ACTIVE", "SHELVED_OFFLOADED"]:
            assert time.monotonic() < end
            time.sleep(POLL)
        assert not self.held.overdrawn(names.slots_provider_id("host1"))
        # It is unshelved when there is a slot, and not before.
        (shelved,) = [server for server in servers if self.host_of(server) is None]
        shelved.unshelve()
        time.sleep(1)
        assert self.host_of(shelved) is None
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host1"), SMALL))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_a_host_that_is_held_as_a_whole_by_several_vms(self) -> None:
        """Together they need more CPUs than a single server may have, because Nova counts each of them four times."""
        quarter = Resources({"VCPU": 10, "MEMORY_MB": 1900, HOST_SHARE: 1})
        order = self.order(OperationKind.START, str(uuid4()), ("host1",) * 4, quarter)
        self.carry_out(order)
        assert self.used("host1")["VCPU"] == 40
        self.carry_out(Removal(1, order.lease_id))
        self.assert_nothing_is_left()

    def test_a_suspended_lease_comes_back_on_other_hosts(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host1"), SMALL))
        servers = [self.boot(names.flavor_id(lease_id, 0)) for _ in range(2)]
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1", "host1"), SMALL))
        assert {self.nova.servers.get(server.id).status for server in servers} == {"SHELVED_OFFLOADED"}
        assert not any(self.used("host1").values())
        (footprint,) = self.driver.footprints()
        assert (footprint.servers, footprint.hosts) == ("saved", frozenset())
        # Its user cannot unshelve it meanwhile.
        servers[0].unshelve()
        time.sleep(1)
        assert self.host_of(servers[0]) is None
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2", "host3"), SMALL))
        assert sorted(str(self.host_of(server)) for server in servers) == ["host2", "host3"]
        self.carry_out(Removal(1, lease_id))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_a_lease_of_whole_hosts_keeps_everybody_else_away(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host2"), WHOLE))
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        assert self.boot(ORDINARY).status == "ERROR"
        assert self.host_of(self.boot(preemptible.id)) == "host3"
        mine = [self.boot(ORDINARY, scheduler_hints={"lease": lease_id}) for _ in range(2)]
        assert {self.host_of(server) for server in mine} <= {"host1", "host2"}
        assert self.boot(ORDINARY, scheduler_hints={"lease": str(uuid4())}).status == "ERROR"
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1", "host2"), WHOLE))
        assert {self.nova.servers.get(server.id).status for server in mine} == {"SHELVED_OFFLOADED"}
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1",), WHOLE))
        assert {self.host_of(server) for server in mine} == {"host1"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))
        left = [server for server in self.nova.servers.list() if server.status != "ERROR"]
        assert [self.host_of(server) for server in left] == ["host3"]

    def test_who_gives_way_is_shelved_and_who_does_not_is_named(self) -> None:
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        spot = self.boot(preemptible.id)
        host = str(self.host_of(spot))
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, (host,), WHOLE))
        assert self.nova.servers.get(spot.id).status == "SHELVED_OFFLOADED"
        mine = self.boot(ORDINARY, scheduler_hints={"lease": lease_id})
        assert self.host_of(mine) == host
        # A server that was there before its host came into the pool.
        self.driver.set_pool([host])
        firm = self.boot(ORDINARY)
        elsewhere = str(self.host_of(firm))
        self.driver.set_pool(HOSTS)
        order = self.order(OperationKind.START, str(uuid4()), (elsewhere,), WHOLE)
        try:
            self.carry_out(order)
        except StepFailedError as error:
            assert error.host == elsewhere
        else:
            raise AssertionError("somebody else's server is on the host")

    def test_another_lease_that_is_late_is_waited_for(self) -> None:
        late, waiting = str(uuid4()), str(uuid4())
        self.carry_out(self.order(OperationKind.START, late, ("host1",), SMALL))
        self.boot(names.flavor_id(late, 0))
        order = self.order(OperationKind.START, waiting, ("host1",), WHOLE)
        assert self.driver.perform(order, "aggregate") is None
        assert self.driver.perform(order, "vacate") is not None
        self.carry_out(self.order(OperationKind.SUSPEND, late, ("host1",), SMALL))
        self.carry_out(order)

    def test_capacity_that_somebody_else_still_has_is_waited_for(self) -> None:
        big = Resources({"MEMORY_MB": 6000, HOST_SHARE: 1})
        first, second = str(uuid4()), str(uuid4())
        self.carry_out(self.order(OperationKind.START, first, ("host1", "host2"), big))
        waiting = self.order(OperationKind.START, second, ("host3", "host1"), big)
        assert self.driver.perform(waiting, "aggregate") is None
        assert self.driver.perform(waiting, "hold") is not None
        assert not any(self.used("host3").values())
        self.carry_out(self.order(OperationKind.STOP, first, ("host1", "host2"), big))
        self.carry_out(waiting)
        assert self.used("host3")["MEMORY_MB"] == self.used("host1")["MEMORY_MB"] == 6000

    def test_a_managed_lease_boots_its_servers_where_they_are_planned(self) -> None:
        lease_id = str(uuid4())
        template = {"name": "web", "image_id": IMAGE, "networks": "none", "metadata": {"role": "web"}}
        hosts = ("host3", "host1")
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL, servers=(template,)))
        servers = self.nova.servers.list()
        assert sorted((server.name, str(self.host_of(server))) for server in servers) in (
            [("web-1", "host3"), ("web-2", "host1")],
            [("web-1", "host1"), ("web-2", "host3")],
        )
        assert {server.metadata["role"] for server in servers} == {"web"}
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, hosts, SMALL, servers=(template,)))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2", "host2"), SMALL, servers=(template,)))
        assert {self.host_of(server) for server in self.nova.servers.list()} == {"host2"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2", "host2"), SMALL, servers=(template,)))
        self.assert_nothing_is_left()

    def test_what_becomes_of_servers_at_the_end(self) -> None:
        lease_id = str(uuid4())
        servers = ({"name": "web", "image_id": IMAGE, "networks": "none"},)
        said: dict[str, Any] = {"servers": servers, "on_end": "snapshot", "trust_id": "trust"}
        before = {image["id"] for image in self.glance.detail(None)}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL, **said))
        (server,) = self.nova.servers.list()
        stop = self.order(OperationKind.STOP, lease_id, ("host1",), SMALL, **said)
        self.carry_out(stop)
        # Its host belongs to other leases by now; the image is made afterwards.
        self.carry_out(Removal(2, lease_id, stop.document, is_over=True))
        (image,) = [image for image in self.glance.detail(None) if image["id"] not in before]
        assert image["name"] == f"web-{server.id}"
        assert set(self.trusts_ended) == {"trust"}
        self.assert_nothing_is_left()

    def test_the_trust_ends_with_the_lease_only(self) -> None:
        """A server that is destroyed because its boot failed is booted once more in the user's name."""
        lease_id = str(uuid4())
        group = self.nova.server_groups.create("reservation:any", "affinity")
        record = ReservationRecord("r", "virtual:instance", "r", {"server_group_id": group.id}, 1, 0)
        said: dict[str, Any] = {"trust_id": "trust", "reservations": (record,)}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL, **said))
        self.carry_out(Removal(1, lease_id))
        assert self.trusts_ended == []
        assert [each.id for each in self.nova.server_groups.list()] == [group.id]
        document = LeaseDocument(lease_id, "lease", self.project, "user", 0, **said)
        self.carry_out(Removal(1, lease_id, document, is_over=True))
        assert set(self.trusts_ended) == {"trust"}
        assert self.nova.server_groups.list() == []

    def test_servers_that_nova_refuses_fail_the_step_with_the_reason(self) -> None:
        servers = ({"name": "web", "image_id": str(uuid4()), "networks": "none"},)
        try:
            self.carry_out(self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, servers=servers))
        except StepFailedError as error:
            assert "Nova refuses server web: " in str(error)
        else:
            raise AssertionError("there is no such image")

    def test_managed_servers_that_are_to_be_on_one_host(self) -> None:
        """They are planned as one VM, and each of them is booted."""
        lease_id = str(uuid4())
        record = ReservationRecord("r", "virtual:instance", "r", {"affinity": True, "amount": 2}, 1, 0, node_count=1)
        size = Resources({"VCPU": 4, "MEMORY_MB": 2048, "DISK_GB": 2, HOST_SHARE: 2})
        template = {"name": "web", "image_id": IMAGE, "networks": "none"}
        said: dict[str, Any] = {"reservations": (record,), "servers": (template,)}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), size, **said))
        servers = self.nova.servers.list()
        assert sorted(server.name for server in servers) == ["web-1", "web-2"]
        assert {self.host_of(server) for server in servers} == {"host1"}
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), size, **said))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2",), size, **said))
        assert {self.host_of(server) for server in self.nova.servers.list()} == {"host2"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2",), size, **said))
        self.assert_nothing_is_left()

    def _root_disk(self, **template: Any) -> Any:
        """Start a lease with one server, and return the root disk of the server."""
        # Imported only after Nova's test case, which patches threads on import.
        from nova import context as nova_context
        from nova.objects.block_device import BlockDeviceMappingList

        size = Resources({"VCPU": 2, "MEMORY_MB": 1024, HOST_SHARE: 1})
        servers = ({"name": "db", "networks": "none", **template},)
        self.carry_out(self.order(OperationKind.START, str(uuid4()), ("host1",), size, servers=servers))
        (server,) = self.nova.servers.list()
        assert (server.status, server.image) == ("ACTIVE", "")
        with nova_context.target_cell(nova_context.get_admin_context(), self.cell_mappings["cell1"]) as context:
            (found,) = BlockDeviceMappingList.get_by_instance_uuid(context, server.id)
        return found

    def test_servers_that_boot_from_a_volume(self) -> None:
        """No disk of the host is used; the volume exists before the lease and after it."""
        from nova.tests.fixtures import CinderFixture

        volume_id = CinderFixture.IMAGE_BACKED_VOL
        found = self._root_disk(volume={"volume_id": volume_id})
        assert (found.volume_id, found.boot_index, found.delete_on_termination) == (volume_id, 0, False)

    def test_servers_that_boot_from_a_new_volume(self) -> None:
        """Nova creates them from their image, and deletes them with the server."""
        from nova.volume import cinder

        found = self._root_disk(image_id=IMAGE, volume={"size_gb": 20, "volume_type": "lvm-1"})
        assert (found.image_id, found.delete_on_termination) == (IMAGE, True)
        # The fixture has replaced it with a mock that records its calls.
        told = cinder.API.create.call_args
        assert (told.args[1], told.kwargs["volume_type"]) == (20, "lvm-1")

    def test_a_managed_lease_of_whole_hosts(self) -> None:
        lease_id = str(uuid4())
        template = {"name": "db", "image_id": IMAGE, "networks": "none"}
        size = Resources({"VCPU": 4, "MEMORY_MB": 2048, HOST_SHARE: WHOLE_HOST})
        self.carry_out(self.order(OperationKind.START, lease_id, ("host2", "host3"), size, servers=(template,)))
        assert sorted(str(self.host_of(server)) for server in self.nova.servers.list()) == ["host2", "host3"]
        assert self.used("host2")["VCPU"] == 4
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host2", "host3"), size, servers=(template,)))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1", "host2"), size, servers=(template,)))
        assert sorted(str(self.host_of(server)) for server in self.nova.servers.list()) == ["host1", "host2"]
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host2"), size, servers=(template,)))
        self.assert_nothing_is_left()

    def test_a_running_lease_grows_and_moves(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL))
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host2", "host3"), SMALL))
        assert not any(self.used("host1").values())
        assert self.used("host2")["VCPU"] == self.used("host3")["VCPU"] == 2

    def test_what_happens_by_itself_is_told(self) -> None:
        """A host is disabled and comes back; a user deletes the last server of a managed lease."""
        lease_id = str(uuid4())
        template = {"name": "web", "image_id": IMAGE, "networks": "none"}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host2"), SMALL, servers=(template,)))
        told: list[DriverEvent] = []
        self.driver.events.start(told.append)
        self.addCleanup(self.driver.events.stop)

        def wait_for(*expected: tuple[EventKind, str | None, str | None]) -> None:
            end = time.monotonic() + LIMIT
            while not set(expected) <= {(event.kind, event.lease_id, event.host) for event in told}:
                assert time.monotonic() < end, told
                time.sleep(POLL)

        wait_for(*((EventKind.HOST_UP, None, host) for host in HOSTS))
        (service,) = self.nova.services.list(host="host3", binary="nova-compute")
        self.nova.services.disable_log_reason(service.id, "a disk fails")
        wait_for((EventKind.HOST_CLOSED, None, "host3"))
        assert [event.reason for event in told if event.kind is EventKind.HOST_CLOSED] == ["a disk fails"]
        told.clear()
        self.nova.services.enable(service.id)
        wait_for((EventKind.HOST_UP, None, "host3"))
        first, second = self.nova.servers.list()
        first.delete()
        time.sleep(1)
        assert [event for event in told if event.kind is EventKind.ENDED] == []
        second.delete()
        wait_for((EventKind.ENDED, lease_id, None))
        time.sleep(1)
        assert len([event for event in told if event.kind is EventKind.ENDED]) == 1
