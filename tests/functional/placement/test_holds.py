"""Capacity held for a lease is there, whatever a Placement with default settings grants to others at the same time."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.nova.api import names, nested
from lease_scheduler.cloud.nova.api.devices import DeviceReader
from lease_scheduler.cloud.nova.api.flavors import WantedFlavor
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.repair.overdrafts import Overdrafts
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.steps.order_flavors import OrderFlavors
from lease_scheduler.cloud.nova.steps.slots import Slots
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.documents import LeaseDocument
from tests.functional.placement.site import Site, consumer_id

#: In MiB. The host has room for a VM of the lease or for another server, but not for both.
_MEMORY, _VM, _SERVER = 15_872, 8_192, 9_216


class Cloud:
    """A host in a Placement, and a Nova that records its commands.

    :ivar servers: servers in Nova
    :ivar guest_goes: whether a guest on the host can be made to leave
    :ivar shelved: ids of shelved servers, in order
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.host = f"node-{uuid.uuid4()}"
        self.provider_id = site.make_host(_MEMORY, name=self.host)
        self.placement = Placement(site.adapter)
        self.servers: list[Any] = []
        self.guest_goes = False
        self.shelved: list[str] = []
        self.lease_id = self._find_lease()
        self._groups: dict[str, tuple[ProviderGroup, ...]] = {}
        node = SimpleNamespace(name=self.host, service="service", provider_id=self.provider_id)
        nodes = SimpleNamespace(node=lambda name: node)
        hosts = SimpleNamespace(node=lambda name: node, services=lambda: {"service": self.host})
        known = SimpleNamespace(lease_id=self.lease_id, vms=2, shared=frozenset({"service"}))
        guests = SimpleNamespace(make_room=self._make_room)
        labels = SimpleNamespace(
            labels=lambda order: {0: names.labels(order.lease_id, 0)}, claims=lambda order: dict[Any, Any]()
        )
        away = SimpleNamespace(put_away=lambda servers, *rest: self.shelved.extend(each.id for each in servers))
        self.holding = Holding(
            self.placement,
            cast(Any, nodes),
            DeviceReader(self.placement, self._groups.__getitem__),
            cast(Any, guests),
            cast(Any, SimpleNamespace(make_room=lambda *args: None)),
            cast(Any, labels),
            OrderFlavors(cast(Any, SimpleNamespace(ensure=self._note_flavor)), PciAliases(), shares_per_vcpu=0),
            Slots(self.placement, cast(Any, nodes), cast(Any, SimpleNamespace(release=lambda host, classes: False))),
        )
        self.overdrafts = Overdrafts(
            self.placement,
            cast(Any, hosts),
            cast(Any, SimpleNamespace(all=lambda: {self.lease_id: known})),
            lambda uuid: [each for each in self.servers if each.id == uuid],
            cast(Any, guests),
            cast(Any, away),
            lambda: [self.host],
        )

    def _find_lease(self) -> str:
        """Return a lease whose consumers are not near those of others in the table, which would end in a deadlock."""
        while True:
            found = str(uuid.uuid4())
            if [names.consumer(found, number)[0] for number in range(2)] == ["3", "5"]:
                return found

    def _note_flavor(self, lease_id: str, wanted: WantedFlavor, project_id: str) -> None:
        self._groups[wanted.labels.flavor_id] = wanted.groups

    def _make_room(self, host: str, service: str, missing: Callable[[], Mapping[str, int]]) -> bool:
        """Make room as ``Guests`` does: if anything is missing, the guest leaves and gives back its allocation."""
        if self.guest_goes and any(amount > 0 for amount in missing().values()):
            self.placement.release(self.guest)
            return True
        return False

    def order(
        self,
        kind: OperationKind = OperationKind.START,
        vms: int = 1,
        *groups: ProviderGroup,
        memory: int = _VM,
        lease_id: str | None = None,
    ) -> Order:
        """Return an order for VMs that have this much memory together."""
        lease_id = lease_id or self.lease_id
        nodes = NodeSet(vms, Resources({"MEMORY_MB": memory // vms}), groups=groups)
        request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (nodes,), 0)
        return Order(
            1,
            lease_id,
            Operation(kind, lease_id, (0,) * vms, 0, 0),
            (self.host,) * vms,
            request,
            LeaseDocument(lease_id, "lease", "physics", "ada", 0),
        )

    def hold(self, kind: OperationKind = OperationKind.START, vms: int = 1) -> bool:
        return self.holding.hold(self.order(kind, vms), 0)

    def boot_elsewhere(self, number: int = 9) -> int:
        """Claim a part of the host for a server without a lease."""
        self.guest = consumer_id(number)
        return self.site.claim(self.provider_id, _SERVER, consumer=self.guest)

    def boot_in_lease(self, number: int, created: str) -> int:
        """Claim a slot for a server of the lease."""
        found = SimpleNamespace(id=consumer_id(number), tenant_id="physics", status="ACTIVE", created=created)
        setattr(found, "OS-EXT-STS:task_state", None)
        self.servers.append(found)
        kind = names.slot_class(self.lease_id, 0)
        return self.site.claim(names.slots_provider_id(self.host), 1, kind, consumer=found.id)

    def used(self) -> int:
        return self.site.used(self.provider_id)


@pytest.fixture
def cloud(site: Site) -> Cloud:
    return Cloud(site)


def test_a_hold_that_was_granted_besides_is_given_back(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then tried again until there is room: the lease does not start with half of its memory."""
    change = cloud.placement._change

    def change_while_others_do(method: str, path: str, body: Any) -> Any:
        if not path.startswith("allocations/"):
            return change(method, path, body)
        answers = cloud.site.meet(cloud.provider_id, lambda: change(method, path, body), cloud.boot_elsewhere)
        assert (answers[1].result(), cloud.used()) == (204, _VM + _SERVER)
        return answers[0].result()

    monkeypatch.setattr(cloud.placement, "_change", change_while_others_do)
    assert not cloud.hold()
    assert cloud.used() == _SERVER
    monkeypatch.undo()
    assert not cloud.hold()
    cloud.guest_goes = True
    assert not cloud.hold()
    assert cloud.hold()
    assert cloud.used() == _VM


@pytest.mark.parametrize("kind", [OperationKind.START, OperationKind.ADJUST])
def test_a_hold_is_not_written_twice(cloud: Cloud, kind: OperationKind) -> None:
    assert cloud.hold()
    generation = cloud.site.ask("GET", f"/resource_providers/{cloud.provider_id}")["generation"]
    assert cloud.hold(kind)
    assert cloud.site.ask("GET", f"/resource_providers/{cloud.provider_id}")["generation"] == generation


def test_a_lease_that_runs_keeps_what_it_has_on_a_host_that_has_shrunk(cloud: Cloud) -> None:
    assert cloud.hold()
    cloud.site.set_memory(cloud.provider_id, _VM // 2)
    assert cloud.hold(OperationKind.ADJUST)
    assert cloud.used() == _VM


def test_a_claim_that_is_written_later_goes_when_it_gives_way(cloud: Cloud, caplog: pytest.LogCaptureFixture) -> None:
    cloud.overdrafts.look()
    answers = cloud.site.meet(cloud.provider_id, cloud.boot_elsewhere, lambda: _claim_for(cloud))
    assert [answer.result() for answer in answers] == [204, 204]
    cloud.overdrafts.look()
    assert f"more is taken of host {cloud.host} than it has, and leases hold a part of it" in caplog.text
    assert f"({_VM + _SERVER - _MEMORY} of MEMORY_MB too much)" in caplog.text
    # No guest leaves so far. The hold is checked again although nothing has changed, but reported only once.
    cloud.guest_goes = True
    cloud.overdrafts.look()
    assert cloud.used() == _VM
    assert caplog.text.count("too much") == 1


def test_what_others_do_where_nothing_is_held_is_theirs(cloud: Cloud, caplog: pytest.LogCaptureFixture) -> None:
    cloud.guest_goes = True
    cloud.site.meet(cloud.provider_id, cloud.boot_elsewhere, lambda: cloud.boot_elsewhere(12))
    cloud.overdrafts.look()
    assert cloud.used() == 2 * _SERVER
    # Threads of other tests may log, such as the heartbeat of a RabbitMQ that has ended.
    assert [each.getMessage() for each in caplog.records if each.name.startswith("lease_scheduler")] == []


def test_servers_of_a_lease_beyond_its_slots_are_shelved(cloud: Cloud, caplog: pytest.LogCaptureFixture) -> None:
    """A tenant who boots everything at once gets no more than leased: the youngest server is shelved."""
    assert cloud.hold(vms=1)
    slots = names.slots_provider_id(cloud.host)
    answers = cloud.site.meet(
        slots,
        lambda: cloud.boot_in_lease(9, "2026-01-01T00:00:02Z"),
        lambda: cloud.boot_in_lease(12, "2026-01-01T00:00:01Z"),
    )
    assert [answer.result() for answer in answers] == [204, 204]
    assert cloud.site.used(slots, names.slot_class(cloud.lease_id, 0)) == 2
    youngest, oldest = sorted(cloud.servers, key=lambda server: server.created, reverse=True)
    cloud.overdrafts.look_at("service")
    assert cloud.shelved == [youngest.id]
    setattr(youngest, "OS-EXT-STS:task_state", "shelving_offloading")
    cloud.overdrafts.look_at("service")
    assert cloud.shelved == [youngest.id]
    assert f"server {youngest.id} of project physics is one more than its lease has slots" in caplog.text
    # Keeping a server busy for ever does not help against that.
    setattr(youngest, "OS-EXT-STS:task_state", "rebooting")
    cloud.overdrafts.look()
    assert cloud.shelved == [youngest.id, oldest.id]
    cloud.placement.release(oldest.id)
    cloud.overdrafts.look()
    assert cloud.shelved == [youngest.id, oldest.id]


def _claim_for(cloud: Cloud) -> int:
    """Make the lease's own hold without the check afterwards: as if it had checked a little earlier."""
    consumer = names.consumer(cloud.lease_id, 0)
    return cloud.site.claim(cloud.provider_id, _VM, consumer=consumer)


def _gpu(amount: int, trait: str) -> ProviderGroup:
    return ProviderGroup(Resources({"VGPU": amount}), frozenset({trait}))


def test_devices_are_held_on_the_right_provider_and_lent_to_servers(cloud: Cloud) -> None:
    """NUMA nodes with GPUs below them, of two types (issue 18)."""
    first = cloud.site.make_child(cloud.provider_id, {"PCPU": 8})
    second = cloud.site.make_child(cloud.provider_id, {"PCPU": 8})
    a100 = cloud.site.make_child(first, {"VGPU": 2}, "CUSTOM_A100")
    t4 = cloud.site.make_child(second, {"VGPU": 2}, "CUSTOM_T4")
    found = nested.below(cloud.placement, cloud.provider_id, cloud.host)
    assert sorted((*each.capacity.items(), *each.traits) for each in found) == [
        (("PCPU", 8),),
        (("PCPU", 8),),
        (("VGPU", 2), "CUSTOM_A100"),
        (("VGPU", 2), "CUSTOM_T4"),
    ]
    order = cloud.order(OperationKind.START, 2, _gpu(1, "CUSTOM_T4"))
    assert cloud.holding.hold(order, 0)
    assert (cloud.site.used(t4, "VGPU"), cloud.site.used(a100, "VGPU"), cloud.used()) == (2, 0, _VM)
    assert cloud.holding.hold(order, 0), "after a crash"
    assert cloud.site.used(t4, "VGPU") == 2
    cloud.holding.lend(order)
    assert cloud.holding.hold(order, 0), "its servers have them now"
    assert (cloud.site.used(t4, "VGPU"), cloud.used()) == (0, _VM)


def test_two_providers_do_not_serve_an_amount_of_one(cloud: Cloud) -> None:
    """Each has one unit free; a group of two has to wait, groups of one do not (issue 18)."""
    gpus = [cloud.site.make_child(cloud.provider_id, {"VGPU": 2}, "CUSTOM_A100") for _ in range(2)]
    others = [consumer_id(number) for number in (10, 11)]
    for gpu, other in zip(gpus, others, strict=True):
        assert cloud.site.claim(gpu, 1, "VGPU", consumer=other) == 204
    assert not cloud.holding.hold(cloud.order(OperationKind.START, 1, _gpu(2, "CUSTOM_A100")), 0)
    assert cloud.used() == 0, "nothing is kept from others in vain"
    assert cloud.holding.hold(cloud.order(OperationKind.START, 1, *[_gpu(1, "CUSTOM_A100")] * 2), 0)
    assert [cloud.site.used(gpu, "VGPU") for gpu in gpus] == [2, 2]


class Gpus:
    """A host with two equal GPUs, one of which a guest has, and two leases of one each.

    :ivar lent: order of the lease that has given up its GPU for a server that has not been booted yet
    :ivar coming: order of the lease that is about to take the other one
    """

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.provider_id = cloud.site.make_child(cloud.provider_id, {"VGPU": 2}, "CUSTOM_T4")
        self.lent = self.order(OperationKind.START, 1)
        self.coming = self.order(OperationKind.START, 1, str(uuid.uuid4()))
        cloud.guest = consumer_id(9)
        assert cloud.site.claim(self.provider_id, 1, "VGPU", consumer=cloud.guest) == 204

    def order(self, kind: OperationKind, vms: int, lease_id: str | None = None) -> Order:
        return self.cloud.order(kind, vms, _gpu(1, "CUSTOM_T4"), memory=16 * vms, lease_id=lease_id)

    def lend(self) -> None:
        assert self.cloud.holding.hold(self.lent, 0)
        self.cloud.holding.lend(self.lent)

    def boot(self) -> None:
        """Claim for a server of the lease that has lent its GPU."""
        slots, kind = names.slots_provider_id(self.cloud.host), names.slot_class(self.lent.lease_id, 0)
        claimed = {slots: {kind: 1}, self.provider_id: {"VGPU": 1}}
        assert self.cloud.site.claim_all(claimed, consumer=consumer_id(10)) == 204

    def used(self) -> int:
        return self.cloud.site.used(self.provider_id, "VGPU")


@pytest.fixture
def gpus(cloud: Cloud) -> Gpus:
    return Gpus(cloud)


def test_a_lease_leaves_the_devices_that_another_has_lent_to_its_servers(gpus: Gpus) -> None:
    """The guest goes, not the GPU for which a server of the other lease has not been booted yet (issue 18)."""
    gpus.lend()
    assert gpus.used() == 1
    assert not gpus.cloud.holding.hold(gpus.coming, 0)
    assert gpus.used() == 1, "nothing is kept from others in vain"
    gpus.cloud.guest_goes = True
    assert not gpus.cloud.holding.hold(gpus.coming, 0)
    assert gpus.cloud.holding.hold(gpus.coming, 0)
    gpus.boot()
    assert gpus.used() == 2


def test_a_device_counts_once_when_a_server_has_claimed_it(gpus: Gpus) -> None:
    gpus.cloud.placement.release(gpus.cloud.guest)
    gpus.lend()
    gpus.boot()
    assert gpus.cloud.holding.hold(gpus.coming, 0)
    assert gpus.used() == 2


def test_a_lease_that_grows_leaves_the_devices_that_its_other_servers_may_claim(gpus: Gpus) -> None:
    gpus.lend()
    grown = gpus.order(OperationKind.ADJUST, 2)
    assert not gpus.cloud.holding.hold(grown, 0)
    gpus.cloud.guest_goes = True
    assert not gpus.cloud.holding.hold(grown, 0)
    assert gpus.cloud.holding.hold(grown, 0)
    assert gpus.used() == 1, "the first server may claim the other one meanwhile"
    gpus.boot()
    gpus.cloud.holding.lend(grown)
    assert gpus.used() == 1


def test_a_device_that_is_lent_while_another_lease_looks_is_seen(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is held when the slots are read, and free when the usages are."""
    assert gpus.cloud.holding.hold(gpus.lent, 0)
    usages = gpus.cloud.placement.usages

    def usages_after_lending(provider_id: str) -> Mapping[str, int]:
        if provider_id == gpus.provider_id:
            monkeypatch.setattr(gpus.cloud.placement, "usages", usages)
            gpus.cloud.holding.lend(gpus.lent)
        return usages(provider_id)

    monkeypatch.setattr(gpus.cloud.placement, "usages", usages_after_lending)
    assert not gpus.cloud.holding.hold(gpus.coming, 0)
    assert gpus.used() == 1


def test_a_device_that_is_lent_after_another_lease_looked_is_given_back(
    gpus: Gpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = gpus.cloud.placement._change
    consumer = names.consumer(gpus.coming.lease_id, 0)

    def change_after_lending(method: str, path: str, body: Any) -> Any:
        if path == f"allocations/{consumer}":
            monkeypatch.setattr(gpus.cloud.placement, "_change", change)
            gpus.lend()
        return change(method, path, body)

    monkeypatch.setattr(gpus.cloud.placement, "_change", change_after_lending)
    assert not gpus.cloud.holding.hold(gpus.coming, 0)
    assert gpus.used() == 1
    gpus.boot()


def test_a_lease_that_must_wait_again_has_lent_nothing(gpus: Gpus) -> None:
    """Its host has shrunk meanwhile, so that its start, repeated after a crash, finds no room there."""
    gpus.lend()
    gpus.cloud.site.set_memory(gpus.cloud.provider_id, 8)
    assert not gpus.cloud.holding.hold(gpus.lent, 0)
    gpus.cloud.site.set_memory(gpus.cloud.provider_id, _MEMORY)
    assert gpus.cloud.holding.hold(gpus.coming, 0)
