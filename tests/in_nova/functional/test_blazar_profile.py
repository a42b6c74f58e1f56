"""What Blazar's clients find on a real Nova and Placement, and what is done with what Blazar has left there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from uuid import uuid4

from lease_scheduler.cloud.differences import Difference, Problem
from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.lease.reservations import BlazarOptions
from lease_scheduler.cloud.orders import Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.resources import HOST_SHARE, Resources
from lease_scheduler.records.documents import ReservationRecord
from tests.in_nova.functional.site import HOSTS, IMAGE, LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite

_FILTERS = (
    "AggregateInstanceExtraSpecsFilter",
    "AggregateMultiTenancyIsolation",
    "ServerGroupAffinityFilter",
    "ServerGroupAntiAffinityFilter",
)


def reservation(resource_type: str = "physical:host", **terms: Any) -> ReservationRecord:
    """Return a reservation of one node set."""
    reservation_id = str(uuid4())
    return ReservationRecord(reservation_id, resource_type, reservation_id, terms, 1, 0)


class _Site(NovaSite):
    def start_service(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Start a service with the filters that Blazar's reservations need, too."""
        service = super().start_service(name, *arguments, **options)
        if name == "scheduler":
            names_of_filters = ["ComputeFilter", *_FILTERS, "LeaseFilter"]
            self.flags(group="filter_scheduler", enabled_filters=names_of_filters)
            service.manager.host_manager.enabled_filters = service.manager.host_manager._choose_host_filters(
                names_of_filters
            )
        return service

    def lease(
        self, kind: OperationKind, hosts: tuple[str, ...], resources: Resources, record: ReservationRecord, **said: Any
    ) -> Order:
        """Return an order for a lease of one reservation with the same id."""
        return self.order(kind, record.reservation_id, hosts, resources, reservations=(record,), **said)

    def again(self, order: Order, kind: OperationKind, *hosts: str) -> Order:
        """Return another order for the same lease."""
        return replace(order, operation=replace(order.operation, kind=kind), hosts=hosts or order.hosts)

    def aggregate(self, name: str) -> Any:
        """Return the aggregate with a name, or None."""
        return next((each for each in self.nova.aggregates.list() if each.name == name), None)

    def delete_aggregate(self, name: str) -> None:
        """Delete an aggregate as an operator would, if it exists."""
        found = self.aggregate(name)
        for host in () if found is None else found.hosts:
            found.remove_host(host)
        if found is not None:
            found.delete()

    def left_over(self) -> list[Difference]:
        """Return what belongs to no known lease."""
        return [each for each in self.driver.repair.differences([], {}, HOSTS) if each.problem is Problem.LEFT_OVER]

    def pool(self) -> set[str]:
        return set(self.aggregate("freepool").hosts)

    def preemptible(self) -> Any:
        """Boot a preemptible server."""
        flavor = self.nova.flavors.create("spot", 512, 1, 1)
        flavor.set_keys({"lease:preemptible": "true"})
        server = self.boot(flavor.id)
        assert server.status == "ACTIVE"
        return server

    def flavors(self) -> set[str]:
        return {each.id for each in self.nova.flavors.list(is_public=None)}

    def flavor(self) -> str:
        return ORDINARY


class ProfileTest(_Site):
    options = DriverOptions(blazar=BlazarOptions(profile=True))

    def test_a_host_from_the_start_of_its_reservation_to_the_end(self) -> None:
        record = reservation()
        start = self.lease(OperationKind.START, ("host1",), WHOLE, record)
        self.carry_out(start)
        made = self.aggregate(record.reservation_id)
        assert made.hosts == ["host1"]
        assert made.availability_zone == f"blazar_{record.reservation_id}"
        assert made.metadata["blazar:owner"] == self.project
        assert self.pool() == {"host2", "host3"}
        for hints in ({"reservation": record.reservation_id}, {"lease": start.lease_id}):
            assert self.host_of(self.boot(self.flavor(), scheduler_hints=hints)) == "host1"
        zone = self.boot(self.flavor(), availability_zone=made.availability_zone, scheduler_hints=hints)
        assert self.host_of(zone) == "host1"
        assert self.boot(self.flavor()).status == "ERROR"
        assert self.boot(self.flavor(), scheduler_hints={"reservation": str(uuid4())}).status == "ERROR"
        self.carry_out(self.again(start, OperationKind.STOP))
        assert {server.status for server in self.nova.servers.list()} == {"ERROR"}
        assert self.pool() == set(HOSTS)
        self.assert_nothing_is_left()
        assert self.boot(self.flavor()).status == "ERROR"

    def test_a_lease_of_two_reservations_of_hosts(self) -> None:
        """A hint names one of them, and gives no access to the host of the other."""
        first, second = reservation(), reservation()
        start = self.order(OperationKind.START, str(uuid4()), ("host1", "host2"), WHOLE, reservations=(first, second))
        assert start.request is not None
        single = replace(start.request.nodes[0], count=1)
        start = replace(start, request=replace(start.request, nodes=(single, single)))
        self.carry_out(start)
        for record, host in ((first, "host1"), (second, "host2")):
            assert self.aggregate(record.reservation_id).hosts == [host]
            for _ in range(2):
                server = self.boot(self.flavor(), scheduler_hints={"reservation": record.reservation_id})
                assert self.host_of(server) == host
        self.carry_out(self.again(start, OperationKind.STOP))
        self.assert_nothing_is_left()

    def test_nobody_gets_in_while_its_hosts_change_hands(self) -> None:
        """Before and after each step, an ordinary server finds no host."""
        record = reservation()
        start = self.lease(OperationKind.START, HOSTS, WHOLE, record)
        flavor = self.flavor()
        for order in (start, self.again(start, OperationKind.STOP)):
            for step in self.driver.steps(order):
                self.assert_no_host(flavor)
                self.carry_out_step(order, step)
        self.assert_no_host(flavor)

    def assert_no_host(self, flavor: str) -> None:
        server = self.boot(flavor)
        assert server.status == "ERROR"
        server.delete()

    def carry_out_step(self, order: Order, step: str) -> None:
        end = time.monotonic() + LIMIT
        while self.driver.perform(order, step) is not None:
            assert time.monotonic() < end, f"{step} does not end"
            time.sleep(POLL)

    def test_what_the_pool_is_does_not_bring_reserved_hosts_back(self) -> None:
        record = reservation()
        start = self.lease(OperationKind.START, ("host2",), WHOLE, record)
        self.carry_out(start)
        self.driver.set_pool(HOSTS)
        assert self.pool() == {"host1", "host3"}
        self.driver.set_pool(("host2", "host3"))
        assert self.pool() == {"host3"}
        self.carry_out(self.again(start, OperationKind.STOP))
        assert self.pool() == {"host2", "host3"}

    def test_who_gives_way_is_shelved_before_the_host_changes_its_zone(self) -> None:
        spot = self.preemptible()
        host = str(self.host_of(spot))
        record = reservation()
        self.carry_out(self.lease(OperationKind.START, (host,), WHOLE, record))
        assert self.nova.servers.get(spot.id).status == "SHELVED_OFFLOADED"
        assert self.aggregate(record.reservation_id).hosts == [host]

    def test_what_another_lease_left_on_a_host_goes_to_the_image_store(self) -> None:
        template = {"name": "job", "image_id": IMAGE, "networks": "none"}
        said: dict[str, Any] = {"mode": PreemptionMode.STOP, "servers": (template,)}
        stopped = self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, **said)
        self.carry_out(stopped)
        self.carry_out(self.again(stopped, OperationKind.SUSPEND))
        (server,) = self.nova.servers.list()
        assert (server.status, self.host_of(server)) == ("SHUTOFF", "host1")
        record = reservation()
        start = self.lease(OperationKind.START, ("host1",), WHOLE, record)
        self.carry_out(start)
        assert self.nova.servers.get(server.id).status == "SHELVED_OFFLOADED"
        assert self.aggregate(record.reservation_id).hosts == ["host1"]
        self.carry_out(self.again(start, OperationKind.STOP))
        self.carry_out(self.again(stopped, OperationKind.RESUME, "host1"))
        assert self.nova.servers.get(server.id).status == "ACTIVE"
        self.carry_out(self.again(stopped, OperationKind.STOP))
        self.assert_nothing_is_left()

    def test_whoever_is_on_the_host_at_the_end_is_deleted(self) -> None:
        """As in Blazar; a host with servers does not change its zone."""
        record = reservation()
        start = self.lease(OperationKind.START, ("host1",), WHOLE, record)
        self.carry_out(start)
        other = self.nova.servers.create("forced", IMAGE, self.flavor(), nics="none", host="host1")
        end = time.monotonic() + LIMIT
        while self.nova.servers.get(other.id).status == "BUILD":
            assert time.monotonic() < end
            time.sleep(POLL)
        self.carry_out(self.again(start, OperationKind.STOP))
        assert self.pool() == set(HOSTS)
        self.assert_nothing_is_left()

    def test_a_host_that_fails_is_replaced_and_the_zone_follows(self) -> None:
        record = reservation()
        start = self.lease(OperationKind.START, ("host1", "host2"), WHOLE, record)
        self.carry_out(start)
        hints = {"reservation": record.reservation_id}
        mine = self.boot(self.flavor(), scheduler_hints={**hints, "lease:host": "host1"})
        assert self.host_of(mine) == "host1"
        self.carry_out(self.again(start, OperationKind.ADJUST, "host3", "host2"))
        assert self.host_of(mine) in ("host2", "host3")
        assert sorted(self.aggregate(record.reservation_id).hosts) == ["host2", "host3"]
        assert self.pool() == {"host1"}

    def test_a_host_of_another_zone_cannot_be_reserved(self) -> None:
        other = self.nova.aggregates.create("rack", "rack-1")
        self.nova.aggregates.add_host(other, "host1")
        order = self.lease(OperationKind.START, ("host1",), WHOLE, reservation())
        try:
            self.carry_out(order)
        except StepFailedError as error:
            assert (error.host, "cannot be reserved for Blazar's clients" in str(error)) == ("host1", True)
        else:
            raise AssertionError("it would have two zones")
        assert self.pool() == set(HOSTS)

    def test_instances(self) -> None:
        group = self.nova.server_groups.create("reservation:any", "anti-affinity")
        record = reservation("virtual:instance", amount=2, affinity=False, server_group_id=group.id)
        start = self.lease(OperationKind.START, ("host1", "host2"), SMALL, record)
        self.carry_out(start)
        reservation_id = record.reservation_id
        flavor = self.nova.flavors.get(reservation_id)
        assert flavor.name == f"reservation:{reservation_id}"
        assert (flavor.vcpus, flavor.ram, flavor.disk) == (2, 1024, 1)
        extra_specs = flavor.get_keys()
        slots = f"resources:CUSTOM_RESERVATION_{reservation_id.replace('-', '_').upper()}"
        assert extra_specs["aggregate_instance_extra_specs:reservation"] == reservation_id
        assert (extra_specs[slots], extra_specs["affinity_id"]) == ("1", group.id)
        made = self.aggregate(reservation_id)
        assert self.driver.aggregates.aggregate_ids(start.lease_id, [reservation_id]) == {reservation_id: made.id}
        assert (sorted(made.hosts), made.availability_zone) == (["host1", "host2"], None)
        said = {key: made.metadata[key] for key in ("reservation", "filter_tenant_id", "blazar:owner", "affinity_id")}
        assert said == {
            "reservation": reservation_id,
            "filter_tenant_id": self.project,
            "blazar:owner": self.project,
            "affinity_id": group.id,
        }
        assert self.pool() == set(HOSTS)
        hints = {"group": group.id}
        servers = [self.boot(reservation_id, scheduler_hints=hints) for _ in range(3)]
        assert sorted(server.status for server in servers) == ["ACTIVE", "ACTIVE", "ERROR"]
        assert {self.host_of(server) for server in servers} == {"host1", "host2", None}
        assert self.used("host1")["VCPU"] == 2
        self.carry_out(self.again(start, OperationKind.STOP))
        assert self.nova.servers.list() == []
        assert reservation_id not in self.flavors()
        assert self.nova.server_groups.list() == []
        self.assert_nothing_is_left()

    def test_instances_move_with_their_hosts(self) -> None:
        record = reservation("virtual:instance", amount=1, affinity=None)
        start = self.lease(OperationKind.START, ("host1",), SMALL, record)
        self.carry_out(start)
        server = self.boot(record.reservation_id)
        self.carry_out(self.again(start, OperationKind.ADJUST, "host3"))
        assert self.host_of(server) == "host3"
        assert self.aggregate(record.reservation_id).hosts == ["host3"]
        assert not any(self.used("host1").values())
        self.carry_out(self.again(start, OperationKind.STOP, "host3"))
        self.assert_nothing_is_left()

    def test_a_lease_that_gives_way_is_none_of_blazars(self) -> None:
        record = reservation("virtual:instance", amount=1, affinity=None)
        start = self.lease(OperationKind.START, ("host1",), SMALL, record)
        assert start.request is not None
        self.carry_out(replace(start, request=replace(start.request, preemptible=True)))
        assert self.aggregate(record.reservation_id) is None
        assert self.boot(names.flavor_id(start.lease_id, 0)).status == "ACTIVE"

    def test_destroyed_without_being_known(self) -> None:
        """As when the engine finds something that belongs to no lease."""
        hosts, instances = reservation(), reservation("virtual:instance", amount=1, affinity=None)
        for record, host, resources in ((hosts, "host1", WHOLE), (instances, "host2", SMALL)):
            self.carry_out(self.lease(OperationKind.START, (host,), resources, record))
        self.boot(instances.reservation_id)
        self.boot(self.flavor(), scheduler_hints={"reservation": hosts.reservation_id})
        for record in (hosts, instances):
            self.carry_out(Removal(1, record.reservation_id))
        assert self.nova.servers.list() == []
        assert self.pool() == set(HOSTS)
        self.assert_nothing_is_left()

    def test_nothing_is_left_when_the_service_leaves(self) -> None:
        """Not even of leases whose records in the cloud were deleted before their servers."""
        hosts, instances = reservation(), reservation("virtual:instance", amount=1, affinity=None)
        for record, host, resources in ((hosts, "host1", WHOLE), (instances, "host2", SMALL)):
            self.carry_out(self.lease(OperationKind.START, (host,), resources, record))
        server = self.boot(instances.reservation_id)
        assert server.status == "ACTIVE"
        for record in (hosts, instances):
            for exclusive in (True, False):
                self.delete_aggregate(names.aggregate(record.reservation_id, exclusive=exclusive))
        self.nova.servers.delete(server.id)
        self.gone(server)
        # Slots are found by the aggregates of their reservations, so they are left over when those are gone.
        for _ in range(2):
            found = self.left_over()
            assert found
            assert self.driver.repair.remove_left_over(found, {}) == len(found), found
        assert self.left_over() == []
        assert self.driver.uninstall.leave() == {"host2"}
        assert self.nova.aggregates.list() == []
        assert not [each.name for each in self.nova.flavors.list(is_public=None) if each.name[:5] in ("lease", "reser")]
        assert {each["name"] for each in self.placement.get("/resource_providers").body["resource_providers"]} == set(
            HOSTS
        )
        assert {each for each in self.held.classes() if each.startswith("CUSTOM_")} == {names.ANCHOR}
        # The hosts are open to all projects, in their former zone.
        everywhere = [self.boot(self.flavor(), availability_zone=f"nova:{host}") for host in HOSTS]
        assert [self.host_of(each) for each in everywhere] == list(HOSTS)

    def test_a_lease_keeps_what_it_began_with(self) -> None:
        """Whatever the operator configures while it runs."""
        record = reservation("virtual:instance", amount=1, affinity=None)
        start = self.lease(OperationKind.START, ("host1",), SMALL, record)
        self.carry_out(start)
        plain = self.lease(OperationKind.START, ("host2",), SMALL, reservation("virtual:instance", amount=1))
        assert plain.request is not None
        self.driver = self.new_driver(DriverOptions())
        self.carry_out(plain)
        self.carry_out(self.again(start, OperationKind.ADJUST))
        self.driver = self.new_driver(self.options)
        self.carry_out(self.again(plain, OperationKind.ADJUST))
        assert self.aggregate(plain.lease_id) is None
        assert self.boot(names.flavor_id(plain.lease_id, 0)).status == "ACTIVE"
        assert sorted(self.boot(record.reservation_id).status for _ in range(2)) == ["ACTIVE", "ERROR"]
        assert names.flavor_id(start.lease_id, 0) not in self.flavors()
        for order in (start, plain):
            self.carry_out(self.again(order, OperationKind.STOP))
        self.assert_nothing_is_left()


class DeletingTest(_Site):
    options = DriverOptions(blazar=BlazarOptions(profile=True, deletes_preemptible=True))

    def test_who_gives_way_is_deleted(self) -> None:
        spot = self.preemptible()
        host = str(self.host_of(spot))
        self.carry_out(self.lease(OperationKind.START, (host,), WHOLE, reservation()))
        assert self.nova.servers.list() == []


class WithoutProfileTest(_Site):
    """Resources have our names; Blazar's own are looked after until its leases are over."""

    def test_a_hint_may_name_the_reservation(self) -> None:
        record = reservation()
        start = self.order(OperationKind.START, str(uuid4()), ("host2",), WHOLE, reservations=(record,))
        self.carry_out(start)
        assert self.aggregate(record.reservation_id) is None
        assert self.pool() == set(HOSTS)
        hints = {"reservation": record.reservation_id}
        assert self.host_of(self.boot(self.flavor(), scheduler_hints=hints)) == "host2"

    def test_instances_that_are_to_be_together(self) -> None:
        """They are planned as one VM, but each is a server of its own size."""
        record = reservation("virtual:instance", amount=3, affinity=True)
        together = Resources({name: 3 * amount for name, amount in SMALL.items()})
        start = self.lease(OperationKind.START, ("host3",), together, record)
        self.carry_out(start)
        flavor = self.nova.flavors.get(names.flavor_id(start.lease_id, 0))
        assert (flavor.vcpus, flavor.ram, flavor.disk) == (2, 1024, 1)
        servers = [self.boot(flavor.id) for _ in range(4)]
        assert sorted(server.status for server in servers) == ["ACTIVE"] * 3 + ["ERROR"]
        assert {self.host_of(server) for server in servers} == {"host3", None}
        assert self.used("host3")["VCPU"] == 6
        self.carry_out(self.again(start, OperationKind.STOP))
        self.assert_nothing_is_left()

    def test_a_host_that_blazar_has_reserved(self) -> None:
        record = reservation()
        theirs = self.nova.aggregates.create(record.reservation_id, f"blazar_{record.reservation_id}")
        self.nova.aggregates.set_metadata(theirs, {"blazar:owner": self.project})
        self.driver.set_pool(("host2", "host3"))
        self.nova.aggregates.add_host(theirs, "host1")
        hints = {"reservation": record.reservation_id}
        first = self.boot(self.flavor(), scheduler_hints=hints)
        assert self.host_of(first) == "host1"
        self.driver.set_pool(HOSTS)
        # A new engine checks everything.
        self.driver.footprints()
        adopt = self.lease(OperationKind.ADJUST, ("host1",), WHOLE, record)
        self.carry_out(adopt)
        assert self.nova.servers.get(first.id).status == "ACTIVE"
        for hint in ({"lease": adopt.lease_id}, hints):
            assert self.host_of(self.boot(self.flavor(), scheduler_hints=hint)) == "host1"
        self.carry_out(self.again(adopt, OperationKind.STOP))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_what_blazar_has_made_for_a_lease_to_come(self) -> None:
        """A host that comes into Blazar's zone has no servers, not even stopped ones."""
        template = {"name": "job", "image_id": IMAGE, "networks": "none"}
        said: dict[str, Any] = {"mode": PreemptionMode.STOP, "servers": (template,)}
        stopped = self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, **said)
        self.carry_out(stopped)
        self.carry_out(self.again(stopped, OperationKind.SUSPEND))
        record = reservation()
        theirs = self.nova.aggregates.create(record.reservation_id, f"blazar_{record.reservation_id}")
        self.nova.aggregates.set_metadata(theirs, {"blazar:owner": self.project})
        self.driver.footprints()
        start = self.lease(OperationKind.START, ("host1",), WHOLE, record)
        self.carry_out(start)
        assert self.aggregate(record.reservation_id).hosts == ["host1"]
        hints = {"reservation": record.reservation_id}
        assert self.host_of(self.boot(self.flavor(), scheduler_hints=hints)) == "host1"
        self.carry_out(self.again(start, OperationKind.STOP))
        self.carry_out(Removal(1, stopped.lease_id))
        assert self.nova.servers.list() == []
        assert self.pool() == set(HOSTS)
        self.assert_nothing_is_left()

    def test_instances_that_blazar_has_reserved(self) -> None:
        """Two of them on a host that has no more room; one runs already."""
        record = reservation("virtual:instance", amount=2, affinity=None)
        big = Resources({"VCPU": 2, "MEMORY_MB": 3800, "DISK_GB": 1, HOST_SHARE: 1})
        theirs, name = self._of_blazar(record)
        self.driver.footprints()
        first = self.boot(record.reservation_id)
        assert self.host_of(first) == "host1"
        adopt = self.lease(OperationKind.ADJUST, ("host1", "host1"), big, record)
        self.carry_out(adopt)
        # Once for the server itself, and once for the one that may still be booted.
        assert self.used("host1")["MEMORY_MB"] == 7600
        more = [self.boot(record.reservation_id) for _ in range(2)]
        assert sorted(server.status for server in more) == ["ACTIVE", "ERROR"]
        assert self.used("host1")["MEMORY_MB"] == 7600
        self.carry_out(self.again(adopt, OperationKind.STOP))
        assert self.nova.servers.list() == []
        assert self.aggregate(record.reservation_id) is None
        assert record.reservation_id not in self.flavors()
        # Blazar's own slots are left until its providers are removed.
        assert self.held.inventories(theirs)[name]["total"] == 2
        assert not any(self.held.consumers_on(theirs))

    def _of_blazar(self, record: ReservationRecord) -> tuple[str, str]:
        """Create what Blazar creates for two running instances on host1; return its provider and its class."""
        reservation_id = record.reservation_id
        flavor = self.nova.flavors.create(
            f"reservation:{reservation_id}", 3800, 2, 1, flavorid=reservation_id, is_public=False
        )
        name = f"CUSTOM_RESERVATION_{reservation_id.replace('-', '_').upper()}"
        flavor.set_keys({"aggregate_instance_extra_specs:reservation": reservation_id, f"resources:{name}": "1"})
        self.nova.flavor_access.add_tenant_access(flavor, self.project)
        made = self.nova.aggregates.create(reservation_id, None)
        said = {"reservation": reservation_id, "filter_tenant_id": self.project, "blazar:owner": self.project}
        self.nova.aggregates.set_metadata(made, said)
        self.nova.aggregates.add_host(made, "host1")
        self.held.ensure_class(name)
        node = self.driver._common.hosts.node("host1")
        assert node is not None
        provider_id = str(uuid4())
        self.held.ensure_slots(provider_id, "blazar_host1", node.provider_id, {name: 2})
        return provider_id, name
