"""Tenants who try to get more than they leased, and servers in the way of a lease, on a real Nova."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from novaclient.exceptions import Conflict

from lease_scheduler.cloud.differences import Problem
from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.repair import trespassers
from lease_scheduler.cloud.nova.vacating.options import IntruderAction, RoomOptions
from lease_scheduler.cloud.orders import Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from tests.in_nova.functional.site import HOSTS, LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite


class _Site(NovaSite):
    def shared(self, *hosts: str) -> tuple[str, str]:
        """Create a lease of a small VM on each of some hosts; return its id and its flavor."""
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL))
        return lease_id, names.flavor_id(lease_id, 0)

    def whole(self, *hosts: str) -> str:
        """Create a lease of whole hosts; return its id."""
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, WHOLE))
        return lease_id

    def preemptible(self) -> str:
        flavor = self.nova.flavors.create(f"spot-{uuid4()}", 512, 1, 1)
        flavor.set_keys({"lease:preemptible": "true"})
        return str(flavor.id)

    def on(self, host: str, flavor: str = ORDINARY, project_id: str | None = None) -> Any:
        """Boot a server on a host before the host comes into the pool."""
        self.driver.set_pool([each for each in HOSTS if each != host])
        nova = self.nova
        if project_id is not None:
            self.nova = self.client_of(project_id)
        server = self.boot(flavor)
        self.nova = nova
        self.driver.set_pool(HOSTS)
        assert self.host_of(server) == host
        return server

    def becomes(self, server: Any, *wanted: str) -> Any:
        """Wait until a server has one of some states without a task in progress."""
        end = time.monotonic() + LIMIT
        while True:
            found = self.nova.servers.get(server.id)
            if found.status in wanted and getattr(found, "OS-EXT-STS:task_state") is None:
                return found
            assert time.monotonic() < end, f"{found.status}, not {wanted}"
            time.sleep(POLL)

    def occupied(self, order: Order, *hosts: str) -> HostsOccupiedError:
        """Carry out an order that has to fail because hosts are occupied; return the error."""
        try:
            self.carry_out(order)
        except HostsOccupiedError as error:
            assert set(error.servers) == set(hosts)
            return error
        raise AssertionError("somebody is on a host and does not give way")

    def without(self, order: Order, *hosts: str) -> Order:
        return replace(order, without=frozenset(hosts))


class TricksTest(_Site):
    """Tricks with a valid lease of the tenant's own."""

    def test_a_hint_of_a_shared_lease_leads_nowhere_with_another_flavor(self) -> None:
        lease_id, flavor = self.shared("host1")
        other, other_flavor = self.shared("host1")
        spot = self.preemptible()
        aggregate = names.aggregate(lease_id, exclusive=False)
        hints: list[dict[str, Any]] = [
            {"lease": lease_id},
            {"reservation": lease_id},
            {"lease": aggregate},
            {"lease": [lease_id, lease_id]},
            {"lease": [lease_id, other]},
            {"lease": lease_id, "reservation": other},
            {"lease": lease_id, "lease:host": "host1"},
        ]
        for each in hints:
            for tried in (ORDINARY, spot, other_flavor):
                server = self.boot(tried, scheduler_hints=each)
                assert (server.status, self.host_of(server)) == ("ERROR", None), (each, tried)
                server.delete()
                self.gone(server)
        # Several servers in one request.
        several = self.multiple(ORDINARY, 3, scheduler_hints={"lease": lease_id})
        assert len(several) == 3
        for server in several:
            assert self.becomes(server, "ERROR", "ACTIVE").status == "ERROR"
        mine = self.boot(flavor, scheduler_hints={"lease": lease_id})
        assert (mine.status, self.host_of(mine)) == ("ACTIVE", "host1")
        # As much as was leased, and no more.
        assert self.boot(flavor).status == "ERROR"

    def multiple(self, flavor: str, count: int, **options: Any) -> list[Any]:
        name = f"many-{uuid4()}"
        image = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
        self.nova.servers.create(name, image, flavor, nics="none", min_count=count, max_count=count, **options)
        return [each for each in self.nova.servers.list() if each.name.startswith(name)]

    def test_others_find_no_way_onto_hosts_that_are_being_prepared(self) -> None:
        """Also not once they are vacated, until the lease begins: a server that came then would stay."""
        spot = self.preemptible()
        order = self.order(OperationKind.START, str(uuid4()), HOSTS, WHOLE, late=-600)
        steps = self.driver.steps(order)
        for step in steps:
            while self.driver.perform(order, step) is not None:
                time.sleep(POLL)
            server = self.boot(spot)
            assert (server.status, self.host_of(server)) == ("ERROR", None), step
            server.delete()
            self.gone(server)

    def test_a_server_of_the_lease_is_resized(self) -> None:
        """To something larger, on the hosts of the lease or anywhere in the pool."""
        lease_id, flavor = self.shared("host1")
        self.flags(allow_resize_to_same_host=True)
        for hints in ({}, {"lease": lease_id}):
            mine = self.boot(flavor, scheduler_hints=hints)
            assert mine.status == "ACTIVE"
            mine.resize("3")
            time.sleep(2)
            found = self.becomes(mine, "ACTIVE", "ERROR", "VERIFY_RESIZE")
            assert found.status != "VERIFY_RESIZE"
            assert found.flavor["original_name"].startswith("lease-")
            mine.delete()
            self.gone(mine)
        assert self.used("host1")["VCPU"] == 2

    def test_a_server_is_unshelved_after_the_end(self) -> None:
        """It was shelved from a whole host, so it is not deleted with the lease; its hint has no effect afterwards."""
        lease_id = self.whole("host1")
        mine = self.boot(ORDINARY, scheduler_hints={"lease": lease_id})
        mine.shelve()
        self.becomes(mine, "SHELVED_OFFLOADED")
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))
        mine.unshelve()
        time.sleep(2)
        assert self.host_of(mine) is None

    def test_a_whole_host_is_left_at_the_end_whatever_the_tags_say(self) -> None:
        """The tag of another lease of the project does not keep a server on a host which that lease does not have."""
        long, _ = self.shared("host2")
        lease_id = self.whole("host1")
        mine = [self.boot(ORDINARY, scheduler_hints={"lease": lease_id}) for _ in range(2)]
        mine[0].add_tag(names.tag(long))
        mine[1].add_tag(names.tag(long))
        mine[1].stop()
        self.becomes(mine[1], "SHUTOFF")
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))
        assert [each.id for each in self.nova.servers.list()] == []
        assert not any(self.used("host1").values())

    def test_servers_that_came_by_a_hint_before_there_was_a_rule_leave_at_the_end(self) -> None:
        ordinary = self.on("host1")
        lease_id, flavor = self.shared("host1")
        mine = self.boot(flavor)
        # As if the old filter had admitted it, with any flavor.
        exclusive = {"lease:exclusive": "true"}
        aggregate = next(each for each in self.nova.aggregates.list() if each.name.endswith("-shared"))
        aggregate.set_metadata(exclusive)
        entered = self.boot("3", scheduler_hints={"lease": lease_id})
        assert self.host_of(entered) == "host1"
        aggregate.set_metadata({"lease:exclusive": "false"})
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))
        # What has nothing to do with the lease is left alone.
        assert [each.id for each in self.nova.servers.list()] == [ordinary.id]
        assert mine.id != entered.id

    def test_a_guest_that_its_owner_keeps_from_being_shelved(self) -> None:
        """Rescued, waiting for the confirmation of a resize, or failed: it makes room all the same."""
        spot = self.preemptible()
        larger = self.nova.flavors.create("larger spot", 1024, 1, 1)
        larger.set_keys({"lease:preemptible": "true"})
        self.flags(allow_resize_to_same_host=True)
        long, _ = self.shared("host1")
        rescued, resized, failed = (self.boot(spot) for _ in range(3))
        # Tags of other leases do not keep them there.
        for each in (rescued, resized, failed):
            each.add_tag(names.tag(str(uuid4())))
        rescued.rescue()
        self.becomes(rescued, "RESCUE")
        resized.resize(larger.id)
        self.becomes(resized, "VERIFY_RESIZE")
        self.nova.servers.reset_state(failed, "error")
        self.becomes(failed, "ERROR")
        # On a host that other leases share, it makes room as well.
        self.carry_out(self.order(OperationKind.STOP, long, ("host1",), SMALL))
        self.whole(*HOSTS)
        for each in (rescued, resized, failed):
            assert self.becomes(each, "SHELVED_OFFLOADED")

    def test_a_guest_that_has_left_a_host_by_a_resize(self) -> None:
        """Unless its owner confirms that, its room stays taken, and it may come back."""
        small, large = (self.nova.flavors.create(f"{ram} MB", ram, 1, 1) for ram in (4000, 4001))
        for each in (small, large):
            each.set_keys({"lease:preemptible": "true"})
        for resources in (replace_memory(SMALL, 6000), WHOLE):
            guest = self.boot(str(small.id))
            left = str(self.host_of(guest))
            guest.resize(large)
            self.becomes(guest, "VERIFY_RESIZE")
            assert self.host_of(guest) != left
            lease_id = str(uuid4())
            start = self.order(OperationKind.START, lease_id, (left,), resources)
            self.carry_out(replace(start, operation=replace(start.operation, begun=int(time.time()))))
            assert self.becomes(guest, "ACTIVE").flavor["original_name"] == large.name
            with pytest.raises(Conflict):
                guest.revert_resize()
            self.carry_out(self.order(OperationKind.STOP, lease_id, (left,), resources))
            guest.delete()
            self.gone(guest)
        self.assert_nothing_is_left()


class OtherWaysTest(_Site):
    """Ways to a host other than a plain boot, with a valid lease of the tenant's own."""

    #: A volume that Nova's stand-in for Cinder has.
    _VOLUME = "6ca404f3-d844-4169-bb96-bc792f37de98"

    def test_none_leads_to_more_than_was_paid_for(self) -> None:
        # On one site, because setting one up takes longer than trying.
        self.hints_of_nova_s_own_and_groups_and_volumes()
        self.servers_that_are_rebuilt_resized_unshelved_and_evacuated()

    def hints_of_nova_s_own_and_groups_and_volumes(self) -> None:
        lease_id, flavor = self.shared("host1")
        # Its project finds the flavor by its name.
        assert {each.name: each.id for each in self.nova.flavors.list(is_public=None)}[f"lease-{lease_id}-0"] == flavor
        group = self.nova.server_groups.create("together", "affinity").id
        mine = self.boot(flavor, scheduler_hints={"group": group})
        assert self.host_of(mine) == "host1"
        before = {host: self.used(host) for host in HOSTS}
        tricks: list[dict[str, Any]] = [
            # The other servers of the group are there.
            {"scheduler_hints": {"group": group}},
            {"scheduler_hints": {"group": group, "lease": lease_id}},
            # Nova's internal mark of a rebuild, for which it runs no filter and claims nothing: nova-api removes it.
            {"scheduler_hints": {"_nova_check_type": "rebuild"}},
            {"scheduler_hints": {"_nova_check_type": ["rebuild"], "lease": lease_id}},
            # A boot from a volume needs nothing of the host's disk.
            {"volume": True, "scheduler_hints": {"lease": lease_id}},
            {"volume": True, "scheduler_hints": {"lease": lease_id, "_nova_check_type": "rebuild"}},
        ]
        for trick in tricks:
            for tried in (ORDINARY, self.preemptible()) if "lease" in trick["scheduler_hints"] else (ORDINARY,):
                server = self.boot(tried, **self.booted_from(trick))
                assert (server.status, self.host_of(server)) == ("ERROR", None), trick
                server.delete()
        # Its own flavor gives no more slots than were leased.
        for hints in ({"_nova_check_type": "rebuild"}, {"_nova_check_type": "rebuild", "lease": lease_id}):
            assert self.boot(flavor, scheduler_hints=hints).status == "ERROR"
        assert {host: self.used(host) for host in HOSTS} == before
        mine.delete()
        self.emptied("host1", 2)
        server = self.boot(flavor, **self.booted_from({"volume": True}))
        assert (server.status, self.host_of(server)) == ("ACTIVE", "host1")
        assert self.boot(flavor).status == "ERROR"
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))

    def booted_from(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a boot, from a volume if the hints say so."""
        options = dict(options)
        if options.pop("volume", False):
            device = {"uuid": self._VOLUME, "source_type": "volume", "destination_type": "volume", "boot_index": 0}
            options["block_device_mapping_v2"] = [device]
        return options

    def servers_that_are_rebuilt_resized_unshelved_and_evacuated(self) -> None:
        self.flags(allow_resize_to_same_host=True)
        first, flavor = self.shared("host1")
        _, second_flavor = self.shared("host2")
        whole = self.whole("host3")
        entered = self.boot(ORDINARY, scheduler_hints={"lease": whole})
        mine = self.boot(flavor, scheduler_hints={"lease": first})
        assert (self.host_of(mine), self.host_of(entered)) == ("host1", "host3")
        before = {host: self.used(host) for host in HOSTS}

        # With another image nova-scheduler is called, and the server stays where it is.
        mine.rebuild("a2459075-d96c-40d5-893e-577ff92e721c")
        assert self.acted(mine, "rebuild").status == "ACTIVE"
        assert self.host_of(mine) == "host1"

        # A lease's slots are closed to another lease: the server's hint names the first lease for good.
        for larger in ("3", second_flavor):
            mine.resize(larger)
            assert self.acted(mine, "resize").status in ("ACTIVE", "ERROR")
            assert self.host_of(mine) == "host1"
        # Nor can a resize move a server to a lease that does not have its host.
        entered.resize(second_flavor)
        assert self.acted(entered, "resize").status in ("ACTIVE", "ERROR")
        assert self.host_of(entered) == "host3"
        assert {host: self.used(host) for host in HOSTS} == before
        # Without a hint it may take a slot of the other lease, and nothing else there.
        mine.delete()
        self.emptied("host1", 2)
        plain = self.boot(flavor)
        plain.resize(second_flavor)
        assert self.acted(plain, "resize").status == "VERIFY_RESIZE"
        plain.confirm_resize()
        self.becomes(plain, "ACTIVE")
        assert self.host_of(plain) == "host2"
        assert self.boot(second_flavor).status == "ERROR"
        assert {host: self.used(host)["VCPU"] for host in ("host1", "host2")} == {"host1": 2, "host2": 2}

        # Their host is down: hosts of other leases and of the pool do not accept them.
        for host, server in (("host2", plain), ("host3", entered)):
            (service,) = self.nova.services.list(host=host, binary="nova-compute")
            self.nova.services.force_down(service.id, True)
            self.nova.servers.evacuate(server)
            self.acted(server, "evacuate")
            assert self.host_of(server) == host
            self.nova.services.force_down(service.id, False)
        assert self.used("host1")["VCPU"] == 2

        # After the promised end, whatever the state of the service.
        again = self.boot(flavor)
        again.shelve()
        self.becomes(again, "SHELVED_OFFLOADED")
        self.driver.announcements.tell_ends({first: int(time.time()) - 1})
        again.unshelve()
        assert self.acted(again, "unshelve").status == "SHELVED_OFFLOADED"
        self.carry_out(self.order(OperationKind.STOP, first, ("host1",), SMALL))
        assert again.id not in {each.id for each in self.nova.servers.list()}

    def acted(self, server: Any, action: str) -> Any:
        """Wait until Nova has finished the last action on a server."""
        end = time.monotonic() + LIMIT
        while True:
            last = self.nova.instance_action.list(server)[0]
            events = self.nova.instance_action.get(server, last.request_id).events
            found = self.nova.servers.get(server.id)
            is_through = bool(events) and all(each["finish_time"] for each in events)
            if last.action == action and is_through and getattr(found, "OS-EXT-STS:task_state") is None:
                return found
            assert time.monotonic() < end, (last.action, events)
            time.sleep(POLL)

    def emptied(self, host: str, vcpus: int) -> None:
        """Wait until a host has no servers beside those that are held there."""
        end = time.monotonic() + LIMIT
        while any(getattr(each, "OS-EXT-SRV-ATTR:host") == host for each in self.nova.servers.list()):
            assert time.monotonic() < end
            time.sleep(POLL)
        assert self.used(host)["VCPU"] == vcpus


class OccupiedTest(_Site):
    """Ordinary servers on hosts of a lease are left alone and reported; the rest of the lease is delivered."""

    def test_a_whole_host_that_cannot_be_had(self) -> None:
        firm = self.on("host2", project_id="biology")
        # Operators are told before a lease needs the host.
        assert [(each.problem.value, each.name) for each in self.driver.repair.differences([], {}, HOSTS)] == [
            ("intruding", firm.id)
        ]
        lease_id = str(uuid4())
        order = self.order(OperationKind.START, lease_id, HOSTS, WHOLE)
        error = self.occupied(order, "host2")
        assert error.servers == {"host2": (firm.id,)}
        self.carry_out(Removal(1, lease_id))
        order = self.without(order, "host2")
        self.carry_out(order)
        (footprint,) = self.driver.footprints()
        assert (footprint.servers, footprint.hosts) == ("active", frozenset({"host1", "host3"}))
        mine = [self.boot(ORDINARY, scheduler_hints={"lease": lease_id}) for _ in range(2)]
        assert {self.host_of(each) for each in mine} <= {"host1", "host3"}
        # Its hosts are checked again while it runs: its own servers there are not in the way.
        adjust = self.order(OperationKind.ADJUST, lease_id, HOSTS, WHOLE)
        self.occupied(adjust, "host2")
        self.carry_out(self.without(adjust, "host2"))
        firm.delete()
        end = time.monotonic() + LIMIT
        while self.used("host2").get("VCPU"):
            assert time.monotonic() < end
            time.sleep(POLL)
        self.carry_out(adjust)
        (footprint,) = self.driver.footprints()
        assert footprint.hosts == frozenset(HOSTS)
        assert {self.nova.servers.get(each.id).status for each in mine} == {"ACTIVE"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, HOSTS, WHOLE))
        self.assert_nothing_is_left()

    def test_a_shared_host_that_has_no_room(self) -> None:
        """It is full of ordinary servers; the VM elsewhere is held, and its server boots."""
        # 4096 of 7680 MB.
        firm = [self.on("host2", "3")]
        half = replace_memory(SMALL, 6000)
        lease_id = str(uuid4())
        order = self.order(OperationKind.START, lease_id, ("host1", "host2"), half)
        begun = replace(order, operation=replace(order.operation, begun=int(time.time()) - 60))
        error = self.occupied(begun, "host2")
        assert error.servers == {"host2": (firm[0].id,)}
        self.carry_out(Removal(1, lease_id))
        self.carry_out(self.without(order, "host2"))
        first = self.boot(names.flavor_id(lease_id, 0))
        assert self.host_of(first) == "host1"
        assert self.boot(names.flavor_id(lease_id, 0)).status == "ERROR"
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host2"), half))
        assert [each.id for each in self.nova.servers.list() if each.status != "ERROR"] == [firm[0].id]


def replace_memory(resources: Any, amount: int) -> Any:
    return type(resources)({**resources, "MEMORY_MB": amount})


class ShelvedIntrudersTest(_Site):
    options = DriverOptions(room=RoomOptions(intruders=IntruderAction.SHELVE, intruder_patience=30))

    def test_an_ordinary_server_is_shelved_and_comes_back(self) -> None:
        firm = self.on("host2")
        lease_id = self.whole("host2")
        assert self.becomes(firm, "SHELVED_OFFLOADED")
        assert "lease-preempted" in firm.tag_list()
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2",), WHOLE))
        self.assert_nothing_is_left()

    def test_as_many_as_are_in_the_way_on_a_shared_host(self) -> None:
        first = self.on("host2", "3")
        half = replace_memory(SMALL, 6000)
        order = self.order(OperationKind.START, str(uuid4()), ("host2",), half)
        self.carry_out(replace(order, operation=replace(order.operation, begun=int(time.time()) - 20)))
        assert self.becomes(first, "SHELVED_OFFLOADED")


class MigratedIntrudersTest(_Site):
    options = DriverOptions(room=RoomOptions(intruders=IntruderAction.MIGRATE, intruder_patience=30))

    def running_and_stopped(self) -> tuple[Any, Any]:
        """Boot two servers on a host that comes into the pool afterwards."""
        self.driver.set_pool(["host2", "host3"])
        running, stopped = self.boot(ORDINARY), self.boot(ORDINARY)
        stopped.stop()
        self.becomes(stopped, "SHUTOFF")
        self.driver.set_pool(["host1", "host2"])
        return running, stopped

    def leave_for_a_lease(self, running: Any, stopped: Any) -> None:
        """Start a lease of their host, which they have to leave."""
        lease_id = self.whole("host1")
        assert {self.host_of(running), self.host_of(stopped)} == {"host3"}
        assert self.becomes(running, "ACTIVE")
        assert self.becomes(stopped, "SHUTOFF")
        assert not any(self.used("host1").values())
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))

    def test_ordinary_servers_go_to_hosts_that_are_not_for_leases(self) -> None:
        running, stopped = self.running_and_stopped()
        assert {self.host_of(running), self.host_of(stopped)} == {"host1"}
        self.leave_for_a_lease(running, stopped)

    def test_one_that_finds_no_other_host_is_named(self) -> None:
        firm = self.on("host2")
        error = self.occupied(self.order(OperationKind.START, str(uuid4()), ("host2",), WHOLE, late=0), "host2")
        assert error.servers == {"host2": (firm.id,)}
        assert self.becomes(firm, "ACTIVE")

    def test_a_server_that_runs_on_its_new_host_has_not_failed(self) -> None:
        """Nova says so, because it could not release what the migration had of the old host."""
        self.driver.set_pool(["host2", "host3"])
        server = self.boot(ORDINARY)
        self.driver.set_pool(["host1", "host2"])
        with self.placement_that_refuses() as refused:
            self.whole("host1")
        assert len(refused) == 1
        assert (self.becomes(server, "ACTIVE").id, self.host_of(server)) == (server.id, "host3")
        assert not any(self.used("host1").values())

    def test_a_stopped_server_on_a_shared_host(self) -> None:
        """It keeps its room until somebody confirms that it has gone."""
        stopped = self.on("host2", "3")
        stopped.stop()
        self.becomes(stopped, "SHUTOFF")
        self.driver.set_pool(["host2"])
        lease_id = str(uuid4())
        order = self.order(OperationKind.START, lease_id, ("host2",), replace_memory(SMALL, 6000))
        self.carry_out(replace(order, operation=replace(order.operation, begun=int(time.time()) - 20)))
        assert self.becomes(stopped, "SHUTOFF")
        assert self.host_of(stopped) != "host2"

    def test_an_engine_that_is_killed_while_a_server_leaves(self) -> None:
        """The next one does not know which servers are on their way."""
        running, stopped = self.running_and_stopped()
        with self.placement_that_refuses() as refused:
            running.live_migrate("host3", "auto")
            self.becomes(running, "ERROR")
        assert len(refused) == 1
        stopped.migrate("host3")
        self.becomes(stopped, "VERIFY_RESIZE")
        self.driver = self.new_driver(self.options)
        self.driver.set_pool(["host1", "host2"])
        self.leave_for_a_lease(running, stopped)


class WithoutFilterTest(_Site):
    """An operator has forgotten LeaseFilter in the configuration of nova-scheduler."""

    filters = ("ComputeFilter",)

    def test_servers_that_nova_lets_in_name_the_filter(self) -> None:
        lease_id = self.whole(*HOSTS)
        self.nova = self.client_of("other-project")
        server = self.boot(ORDINARY)
        host = self.host_of(server)
        assert host in HOSTS
        (found,) = [
            each
            for each in self.driver.repair.differences([], {lease_id: 3}, HOSTS)
            if each.problem is Problem.UNFILTERED
        ]
        assert (found.name, found.lease_id, found.host) == (server.id, lease_id, host)
        assert "LeaseFilter does not answer" in found.detail
        assert [each.name for each in trespassers.unfiltered(self.nova, "freepool")] == [server.id]
