"""What is deleted or edited of a lease is noticed on a real Nova and Placement, and repaired by its next operation.

Run by unittest, because pytest cannot run Nova's test cases.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from lease_scheduler.cloud.differences import Difference, Presence
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.orders import Expectation, Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.nova import aggregates as metadata
from tests.in_nova.functional.site import HOSTS, IMAGE, ORDINARY, SMALL, WHOLE, NovaSite

#: The end of leases.
UNTIL = 2**33


def told(differences: list[Difference]) -> set[tuple[str, str]]:
    return {(each.kind.value, each.problem.value) for each in differences}


class RepairTest(NovaSite):
    def setUp(self) -> None:
        super().setUp()
        self.lease_id = str(uuid4())
        self.hosts = ("host1", "host1", "host2")

    def start(self, mode: OperationKind = OperationKind.START) -> Order:
        order = self.order(mode, self.lease_id, self.hosts, SMALL)
        self.carry_out(order)
        self.driver.announcements.tell_ends({order.lease_id: UNTIL})
        return order

    def differences(self, order: Order, presence: Presence = Presence.RUNNING) -> list[Difference]:
        live = {order.lease_id: len(order.hosts)}
        return self.driver.repair.differences([Expectation(order, presence, UNTIL)], live, HOSTS)

    def adjusted(self, order: Order) -> Order:
        now = int(time.time())
        operation = Operation(OperationKind.ADJUST, order.lease_id, tuple(range(len(order.hosts))), now, now)
        return replace(order, operation=operation)

    def test_nothing_differs_of_a_lease_that_nobody_touched(self) -> None:
        order = self.start()
        self.boot(names.flavor_id(self.lease_id, 0))
        assert self.differences(order) == []
        exclusive = self.order(OperationKind.START, str(uuid4()), ("host3",), WHOLE)
        self.carry_out(exclusive)
        self.driver.announcements.tell_ends({exclusive.lease_id: UNTIL})
        live = {order.lease_id: 3, exclusive.lease_id: 1}
        both = [Expectation(each, Presence.RUNNING, UNTIL) for each in (order, exclusive)]
        assert self.driver.repair.differences(both, live, HOSTS) == []

    def test_each_thing_that_is_deleted_or_edited_is_told_and_made_again(self) -> None:
        order = self.start()
        flavor_id = names.flavor_id(self.lease_id, 0)
        aggregate_name = names.aggregate(self.lease_id, exclusive=False)
        slots = names.slots_provider_id("host1")
        resource_class = names.slot_class(self.lease_id, 0)

        def aggregate() -> object:
            return next(each for each in self.nova.aggregates.list() if each.name == aggregate_name)

        def delete_aggregate() -> None:
            found = aggregate()
            for host in found.hosts:  # type: ignore[attr-defined]
                found.remove_host(host)  # type: ignore[attr-defined]
            found.delete()  # type: ignore[attr-defined]

        def recreate_flavor() -> None:
            self.nova.flavors.delete(flavor_id)
            self.nova.flavors.create("mine", 64, 1, 0, flavorid=flavor_id, is_public=False)

        damages: list[tuple[Callable[[], object], set[tuple[str, str]]]] = [
            (lambda: self.nova.flavors.delete(flavor_id), {("flavor", "missing")}),
            (
                recreate_flavor,
                {("flavor", "different"), ("extra_specs", "different"), ("access", "different")},
            ),
            (
                lambda: self.nova.flavors.get(flavor_id).unset_keys([f"resources:{resource_class}"]),
                {("extra_specs", "different")},
            ),
            (
                lambda: self.nova.flavors.get(flavor_id).set_keys({"resources:VCPU": "4"}),
                {("extra_specs", "different")},
            ),
            (
                lambda: self.nova.flavor_access.remove_tenant_access(self.nova.flavors.get(flavor_id), self.project),
                {("access", "different")},
            ),
            (lambda: self.held.release(names.consumer(self.lease_id, 1)), {("consumer", "missing")}),
            (lambda: self.hold_less(0), {("consumer", "different")}),
            (lambda: self.held.remove_slots(slots, [resource_class]), {("inventory", "missing")}),
            (
                lambda: self.held.ensure_slots(slots, names.slots_provider("host1"), slots, {resource_class: 7}),
                {("inventory", "different")},
            ),
            (self.remove_class, {("resource_class", "missing")}),
            (
                lambda: aggregate().set_metadata({metadata.PROJECT_ID: "somebody"}),  # type: ignore[attr-defined]
                {("metadata", "different")},
            ),
            (
                lambda: aggregate().set_metadata({metadata.LEASE_ID: None}),  # type: ignore[attr-defined]
                {("metadata", "different")},
            ),
            (
                lambda: aggregate().set_metadata({metadata.UNTIL: str(2**34)}),  # type: ignore[attr-defined]
                {("metadata", "different")},
            ),
            (lambda: aggregate().remove_host("host2"), {("aggregate", "different")}),  # type: ignore[attr-defined]
            (delete_aggregate, {("aggregate", "missing")}),
        ]
        for damage, expected in damages:
            damage()
            found = self.differences(order)
            assert told(found) == expected, (found, expected)
            assert all(each.is_ours_to_mend and each.lease_id == self.lease_id for each in found)
            self.carry_out(self.adjusted(order))
            assert self.differences(order) == [], expected
        # It works as if nothing had happened.
        assert [self.boot(flavor_id).status for _ in range(4)].count("ACTIVE") == 3
        self.carry_out(self.order(OperationKind.STOP, self.lease_id, self.hosts, SMALL))
        self.assert_nothing_is_left()

    def hold_less(self, number: int) -> None:
        node = self.driver._common.hosts.node("host1")
        assert node is not None
        self.held.hold(names.consumer(self.lease_id, number), {node.provider_id: {"VCPU": 1}}, self.project, "user")

    def remove_class(self) -> None:
        resource_class = names.slot_class(self.lease_id, 0)
        for host in ("host1", "host2"):
            self.held.remove_slots(names.slots_provider_id(host), [resource_class])
        self.held.remove_class(resource_class)

    def test_capacity_that_somebody_else_has_taken_meanwhile_is_told_with_its_host(self) -> None:
        order = self.start()
        self.held.release(names.consumer(self.lease_id, 0))
        node = self.driver._common.hosts.node("host1")
        assert node is not None
        intruder = str(uuid4())
        self.held.hold(intruder, {node.provider_id: {"MEMORY_MB": 8192 - 512 - 1024}}, self.project, "user")
        # The intruder's allocation looks like a lease's, but is not ours.
        (found,) = [each for each in self.differences(order) if each.lease_id is not None]
        assert (found.kind.value, found.problem.value, found.host) == ("consumer", "missing", "host1")
        assert "MEMORY_MB 1024" in found.detail
        adjusted = self.adjusted(order)
        # The host is not oversold: the step waits.
        self.driver.perform(adjusted, "join")
        assert self.driver.perform(adjusted, "hold") is not None
        assert self.used("host1")["MEMORY_MB"] == 8192 - 512
        self.held.release(intruder)
        self.carry_out(adjusted)
        assert self.differences(order) == []

    def test_the_memory_of_a_suspended_lease_is_made_again(self) -> None:
        order = self.start()
        server = self.boot(names.flavor_id(self.lease_id, 0))
        suspend = self.order(OperationKind.SUSPEND, self.lease_id, self.hosts, SMALL)
        self.carry_out(suspend)
        saved = replace(self.adjusted(order), hosts=("", "", ""))
        assert self.differences(saved, Presence.SAVED) == []
        for each in self.nova.aggregates.list():
            if each.name != "freepool":
                each.delete()
        assert told(self.differences(saved, Presence.SAVED)) == {("aggregate", "missing")}
        self.driver.repair.mend(Expectation(saved, Presence.SAVED))
        assert self.differences(saved, Presence.SAVED) == []
        (footprint,) = self.driver.footprints()
        assert footprint.servers == "saved"
        self.carry_out(self.order(OperationKind.RESUME, self.lease_id, ("host2", "host2", "host3"), SMALL))
        assert self.host_of(server) in ("host2", "host3")
        self.carry_out(self.order(OperationKind.STOP, self.lease_id, ("host2", "host2", "host3"), SMALL))
        self.assert_nothing_is_left()

    def test_what_belongs_to_no_lease_is_found_and_removed_and_nothing_else(self) -> None:
        order = self.start()
        others = self.others()
        # Without the aggregates nothing records the lease; it is over then.
        for each in self.nova.aggregates.list():
            if each.name == names.aggregate(self.lease_id, exclusive=False):
                for host in each.hosts:
                    each.remove_host(host)
                each.delete()
        live = {str(uuid4()): 2}
        found = self.driver.repair.differences([], live, HOSTS)
        assert {each.problem.value for each in found} == {"left_over"}
        kinds = [each.kind.value for each in found]
        assert {kind: kinds.count(kind) for kind in set(kinds)} == {
            "flavor": 1,
            "resource_class": 1,
            "inventory": 2,
            "consumer": 3,
        }
        # Nothing is removed of a lease that is live by now.
        assert self.driver.repair.remove_left_over(found, {self.lease_id: 3}) == 0
        assert self.differences(order)[0].kind.value == "aggregate"
        assert self.driver.repair.remove_left_over(found, live) == 7
        assert self.driver.repair.differences([], live, HOSTS) == []
        assert self.others() == others

    def others(self) -> tuple[object, ...]:
        """Return what looks like ours and is not; create it the first time."""
        flavor_name = f"lease-{self.lease_id}-0"
        if not any(each.name == "freeride" for each in self.nova.flavors.list(is_public=None)):
            self.nova.flavors.create("freeride", 64, 1, 0).set_keys({"lease:id": str(uuid4())})
            self.nova.aggregates.create(f"lease-{self.lease_id}-of-somebody", None)
            self.nova.flavors.create(f"lease-{uuid4()}-0", 64, 1, 0)
            self.held.ensure_class("CUSTOM_LEASE_PARKING")
            self.held.ensure_class(f"CUSTOM_RESERVATION_{str(uuid4()).replace('-', '_').upper()}")
            node = self.driver._common.hosts.node("host3")
            assert node is not None
            self.boot_elsewhere()
        flavors = {each.name for each in self.nova.flavors.list(is_public=None)} - {flavor_name}
        aggregates = {each.name for each in self.nova.aggregates.list()}
        classes = {each for each in self.held.classes() if each.startswith("CUSTOM_") and self.ours not in each}
        own = names.aggregate(self.lease_id, exclusive=False)
        return flavors, aggregates - {own}, classes, len(self.nova.servers.list())

    @property
    def ours(self) -> str:
        return self.lease_id.replace("-", "_").upper()

    def boot_elsewhere(self) -> None:
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        assert self.boot(preemptible.id).status == "ACTIVE"

    def test_the_pool_and_managed_servers(self) -> None:
        (pool,) = self.nova.aggregates.list()
        pool.remove_host("host2")
        pool.set_metadata({metadata.POOL: None})
        found = self.driver.repair.differences([], {}, HOSTS)
        assert told(found) == {("aggregate", "different"), ("metadata", "different")}
        self.driver.set_pool(HOSTS)
        assert self.driver.repair.differences([], {}, HOSTS) == []
        assert self.boot(ORDINARY).status == "ERROR"
        self.managed_servers()

    def managed_servers(self) -> None:
        """What an operator deletes is booted again; what its own project deletes is not."""
        template = {"name": "web", "image_id": IMAGE, "networks": "none"}
        order = self.order(OperationKind.START, self.lease_id, ("host1", "host2"), SMALL, servers=(template,))
        self.carry_out(order)
        self.driver.announcements.tell_ends({order.lease_id: UNTIL})
        assert self.differences(order) == []
        first, second = (each for each in self.nova.servers.list() if each.name.startswith("web-"))
        self.client_of("operators").servers.delete(first.id)
        self.gone(first)
        (found,) = self.differences(order)
        assert (told([found]), found.lease_id, found.is_ours_to_mend) == ({("server", "missing")}, self.lease_id, True)
        self.carry_out(self.adjusted(order))
        assert self.differences(order) == []
        second.delete()
        self.gone(second)
        assert self.differences(order) == []
        self.carry_out(self.adjusted(order))
        (left,) = [each.name for each in self.nova.servers.list() if each.name.startswith("web-")]
        assert left == first.name
        self.carry_out(self.order(OperationKind.STOP, self.lease_id, ("host1", "host2"), SMALL, servers=(template,)))
