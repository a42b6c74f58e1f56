"""Survey of everything that exists in the cloud for leases, and comparison with what should exist.

Nothing is changed here. Names, ids and metadata distinguish our things from those of others.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.differences import Difference, Item, Kind, Problem, compare
from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.api.complaints import complain
from lease_scheduler.cloud.nova.api.extra_specs import is_asked
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.images.broken_images import BrokenImages
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import NAMED_BY
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.nova.repair import trespassers
from lease_scheduler.cloud.nova.steps import desired_state
from lease_scheduler.cloud.orders import Expectation
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.nova import aggregates as metadata
from lease_scheduler.nova.boots import FLAVOR_LEASE
from lease_scheduler.records.documents import LeaseDocument

LOG = logging.getLogger(__name__)

Found = dict[tuple[Kind, str], Item]


@dataclass(frozen=True)
class SurveyOptions:
    """Options of the survey.

    :ivar freepool: name of the aggregate of all hosts that leases may use
    :ivar aliases: aliases by which Nova gives PCI devices to servers
    :ivar shares_per_vcpu: weight of the CPU time of servers of leases for each of their VCPUs; 0 for Nova's own weight
    :ivar tells_trespassers: whether ordinary servers on hosts of the pool are reported
    """

    freepool: str
    aliases: PciAliases
    shares_per_vcpu: int
    tells_trespassers: bool


class Survey:
    """Survey of one cloud.

    :param nova: novaclient's client with administrator rights
    :param trusts: as in ``NovaClients``
    :param images: finds images that will never be complete; None leaves them out
    """

    def __init__(
        self,
        clock: WaitingClock,
        nova: Any,
        aggregates: Aggregates,
        placement: Placement,
        nodes: Nodes,
        servers: Servers,
        reservations: Reservations,
        options: SurveyOptions,
        trusts: Callable[[], Mapping[str, bool]] | None,
        images: BrokenImages | None,
    ) -> None:
        self._clock = clock
        self._nova = nova
        self._aggregates = aggregates
        self._placement = placement
        self._nodes = nodes
        self._servers = servers
        self._reservations = reservations
        self._options = options
        self._trusts = trusts
        self._images = images
        # Provider -> generation and inventories. Allocations may change without a new generation, so are not cached.
        self._inventories: dict[str, tuple[int, Mapping[str, Mapping[str, Any]]]] = {}

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """See ``Repair.differences``."""
        # This comes first, so that things that are created meanwhile do not count as left over.
        aggregates = {each.name: each for each in self._aggregates.all()}
        items, without_host = self._wanted(expectations, aggregates, pool)
        found: Found = {}
        left_over = list(self._look_at_aggregates(aggregates, live, found))
        projects = {each.order.lease_id: each.order.document for each in expectations}
        servers = self._servers.find()
        left_over += self._look_at_servers(servers, live, found)
        self._look_at_deleted_servers(items, projects, found)
        left_over += self._look_at_flavors(items, live, found)
        left_over += self._look_at_placement(items, servers, aggregates, live, pool, found)
        left_over += self._look_at_groups(items, found)
        left_over += self._look_at_trusts(items, found)
        if self._images is not None:
            left_over += self._try("images", self._images.find)
        intruding = trespassers.find(servers, aggregates.values(), self._options.freepool, self._services(pool))
        found_there = [each for each in intruding if self._options.tells_trespassers or each.lease_id is not None]
        return [*without_host, *self._explain(compare(items, found), expectations), *left_over, *found_there]

    def _services(self, pool: Collection[str]) -> dict[str, str]:
        """Return compute service -> name of the host, for hosts of the pool."""
        return {node.service: name for name in pool if (node := self._nodes.find(name)) is not None}

    # -- what should be there --------------------------------------------------------------------------------

    def _wanted(
        self, expectations: Iterable[Expectation], aggregates: Mapping[str, Aggregate], pool: Collection[str]
    ) -> tuple[list[Item], list[Difference]]:
        taken_out = self._reservations.taken_out()
        items = desired_state.pool(self._options.freepool, self._services(pool).keys() - taken_out) if pool else []
        impossible = []
        for expectation in expectations:
            order = expectation.order
            try:
                known = desired_state.Known(
                    self._nodes.node,
                    aggregates.get,
                    self._reservations.labels(order, aggregates.get),
                    tuple(self._reservations.parts(order, aggregates.get)),
                    self._reservations.claims(order, aggregates.get),
                    self._options.aliases,
                    self._options.shares_per_vcpu,
                    self._clock.now(),
                )
                items += desired_state.wanted(expectation, known)
            except StepFailedError as error:
                impossible.append(
                    Difference(
                        Kind.AGGREGATE, Problem.MISSING, error.host or "", order.lease_id, str(error), "", None, False
                    )
                )
        return items, impossible

    # -- what is there ---------------------------------------------------------------------------------------

    def _look_at_aggregates(
        self, aggregates: Mapping[str, Aggregate], live: Collection[str], found: Found
    ) -> Iterable[Difference]:
        for name, each in aggregates.items():
            found[Kind.AGGREGATE, name] = Item(Kind.AGGREGATE, name, None, {"hosts": desired_state.listed(each.hosts)})
            found[Kind.METADATA, name] = Item(Kind.METADATA, name, None, each.metadata)
            lease_id = names.lease_of_aggregate(name)
            if lease_id is None and each.metadata.get(NAMED_BY) == name:
                lease_id = each.metadata.get(metadata.LEASE_ID)
            if lease_id is not None and lease_id not in live:
                yield Difference(Kind.AGGREGATE, Problem.LEFT_OVER, name, lease_id)

    def _look_at_servers(self, servers: Iterable[Any], live: Collection[str], found: Found) -> Iterable[Difference]:
        for each in servers:
            tagged = {lease_id for text in of.tags(each) if (lease_id := names.lease_of_tag(text)) is not None}
            for lease_id in sorted(tagged):
                name = desired_state.server(lease_id, of.number(each))
                found[Kind.SERVER, name] = Item(Kind.SERVER, name, lease_id)
                if lease_id not in live:
                    yield Difference(Kind.SERVER, Problem.LEFT_OVER, each.id, lease_id)

    def _look_at_deleted_servers(
        self, items: Iterable[Item], documents: Mapping[str, LeaseDocument | None], found: Found
    ) -> None:
        """Let servers count as they should be if their own project has renamed or deleted them."""
        for item in items:
            # The project may rename its servers.
            present = found.get((Kind.SERVER, item.name))
            if item.kind is Kind.SERVER and present is not None:
                found[Kind.SERVER, item.name] = item
        missing = [item for item in items if item.kind is Kind.SERVER and (Kind.SERVER, item.name) not in found]
        for lease_id in sorted({item.lease_id for item in missing if item.lease_id is not None}):
            document = documents[lease_id]
            given_up = self._servers.given_up(lease_id, document.project_id) if document is not None else frozenset()
            for item in missing:
                if item.lease_id == lease_id and item.contents["name"] in given_up:
                    found[Kind.SERVER, item.name] = item

    def _look_at_flavors(self, items: Iterable[Item], live: Collection[str], found: Found) -> Iterable[Difference]:
        needed = {item.name: item for item in items if item.kind is Kind.EXTRA_SPECS}
        left_over = []
        for each in all_flavors(self._nova):
            lease_id = names.lease_of_flavor(each.name, each.id)
            if lease_id is None and each.name == names.reservation(each.id):
                lease_id = each.extra_specs.get(FLAVOR_LEASE)
            if lease_id is not None and lease_id not in live:
                left_over.append(Difference(Kind.FLAVOR, Problem.LEFT_OVER, each.id, lease_id, each.name))
            if each.id in needed:
                self._note_flavor(each, needed[each.id], found)
        return left_over

    def _note_flavor(self, flavor: Any, extra_specs: Item, found: Found) -> None:
        size = desired_state.size(flavor.ram, flavor.vcpus, flavor.disk)
        found[Kind.FLAVOR, flavor.id] = Item(Kind.FLAVOR, flavor.id, contents=size)
        # Other extra specs may be the operator's.
        said = {key: value for key, value in flavor.extra_specs.items() if is_asked(key) or key in extra_specs.contents}
        found[Kind.EXTRA_SPECS, flavor.id] = Item(Kind.EXTRA_SPECS, flavor.id, contents=said)
        try:
            access = self._nova.flavor_access.list(flavor=flavor)
        except NotFound:
            # A public flavor has no access list.
            access = []
        projects = {each.tenant_id: "yes" for each in access}
        found[Kind.ACCESS, flavor.id] = Item(Kind.ACCESS, flavor.id, contents=projects)

    def _look_at_placement(
        self,
        items: Iterable[Item],
        servers: Iterable[Any],
        aggregates: Mapping[str, Aggregate],
        live: Mapping[str, int],
        pool: Collection[str],
        found: Found,
    ) -> Iterable[Difference]:
        left_over = list(self._look_at_classes(live, found))
        providers = self._placement.providers()
        generations = dict(providers.values())
        reserved = {names.reservation_class(name) for name, each in aggregates.items() if NAMED_BY in each.metadata}
        hosts = {node.name for name in pool if (node := self._nodes.find(name)) is not None}
        for name, (provider_id, _) in providers.items():
            host = names.host_of_slots_provider(name, provider_id)
            if host is not None:
                hosts.add(host)
                left_over += self._look_at_slots(host, provider_id, generations, live, reserved, found)
        present = {host: providers[host][0] for host in sorted(hosts) if host in providers}
        for host, provider_id in present.items():
            if names.ANCHOR in self._inventories_of(provider_id, generations):
                name = desired_state.slots(host, names.ANCHOR)
                found[Kind.INVENTORY, name] = Item(Kind.INVENTORY, name)
        held = {item.name for item in items if item.kind is Kind.CONSUMER}
        ours = {names.consumer(lease_id, number) for lease_id, vms in live.items() for number in range(vms)}
        of_servers = {each.id for each in servers}
        return [*left_over, *self._look_at_consumers(present, held | ours, of_servers, found)]

    def _look_at_classes(self, live: Collection[str], found: Found) -> Iterable[Difference]:
        for name in sorted(self._placement.classes()):
            found[Kind.RESOURCE_CLASS, name] = Item(Kind.RESOURCE_CLASS, name)
            lease_id = names.lease_of_slot_class(name)
            if lease_id is not None and lease_id not in live:
                yield Difference(Kind.RESOURCE_CLASS, Problem.LEFT_OVER, name, lease_id)

    def _look_at_slots(
        self,
        host: str,
        provider_id: str,
        generations: Mapping[str, int],
        live: Collection[str],
        reserved: Collection[str],
        found: Found,
    ) -> Iterable[Difference]:
        for resource_class, inventory in self._inventories_of(provider_id, generations).items():
            name = desired_state.slots(host, resource_class)
            found[Kind.INVENTORY, name] = Item(Kind.INVENTORY, name, None, {"total": str(inventory["total"])})
            lease_id = names.lease_of_slot_class(resource_class)
            is_known = resource_class in reserved if lease_id is None else lease_id in live
            if not is_known:
                yield Difference(Kind.INVENTORY, Problem.LEFT_OVER, name, lease_id, reference=provider_id)

    def _look_at_consumers(
        self,
        hosts: Mapping[str, str],
        ours: Collection[str],
        servers: Collection[str],
        found: Found,
    ) -> Iterable[Difference]:
        held: dict[str, dict[str, str]] = {}
        for host, provider_id in hosts.items():
            for consumer, resources in self._placement.consumers_on(provider_id).items():
                if consumer not in servers:
                    held.setdefault(consumer, {})[host] = desired_state.amounts(resources)
        for consumer, contents in held.items():
            found[Kind.CONSUMER, consumer] = Item(Kind.CONSUMER, consumer, None, contents)
            if consumer not in ours and self._placement.is_held_for_a_lease(consumer):
                detail = "; ".join(f"{host}: {resources}" for host, resources in contents.items())
                yield Difference(Kind.CONSUMER, Problem.LEFT_OVER, consumer, None, detail)

    def _inventories_of(self, provider_id: str, generations: Mapping[str, int]) -> Mapping[str, Mapping[str, Any]]:
        generation = generations[provider_id]
        known = self._inventories.get(provider_id)
        if known is None or known[0] != generation:
            known = self._inventories[provider_id] = (generation, self._placement.inventories(provider_id))
        return known[1]

    def _look_at_groups(self, items: Iterable[Item], found: Found) -> Iterable[Difference]:
        known = {item.name for item in items if item.kind is Kind.SERVER_GROUP}
        for each in self._nova.server_groups.list(all_projects=True):
            found[Kind.SERVER_GROUP, each.id] = Item(Kind.SERVER_GROUP, each.id)
            reservation_id = names.reservation_of(each.name)
            if reservation_id is not None and each.id not in known:
                yield Difference(Kind.SERVER_GROUP, Problem.LEFT_OVER, each.id, None, each.name, reservation_id)
        # Nova's list is limited, so known groups that it lacks are requested one by one.
        for group in sorted(known):
            if (Kind.SERVER_GROUP, group) not in found:
                with suppress(NotFound):
                    self._nova.server_groups.get(group)
                    found[Kind.SERVER_GROUP, group] = Item(Kind.SERVER_GROUP, group)

    def _look_at_trusts(self, items: Collection[Item], found: Found) -> Iterable[Difference]:
        known = {item.name for item in items if item.kind is Kind.TRUST}
        trusts = self._trusts
        unseen = dict.fromkeys(known, False)
        given = unseen if trusts is None else self._try("trusts", trusts, unseen)
        for trust_id, is_old in given.items():
            found[Kind.TRUST, trust_id] = Item(Kind.TRUST, trust_id)
            if trust_id not in known:
                yield Difference(Kind.TRUST, Problem.LEFT_OVER, trust_id, reference=trust_id, is_abandoned=is_old)

    @staticmethod
    def _try(what: str, look: Callable[[], Any], otherwise: Any = ()) -> Any:
        """Return what a call finds. If its service does not answer, only log that, so that the rest is compared."""
        try:
            return look()
        except Exception as error:
            complain(LOG, f"{what} could not be compared; it is tried again", error)
            return otherwise

    # -- what became of it -----------------------------------------------------------------------------------

    def _explain(self, differences: Iterable[Difference], expectations: Iterable[Expectation]) -> Iterable[Difference]:
        """Complete differences: where others have taken missing capacity, and which we cannot repair."""
        missing = list(differences)
        lost = {each.name for each in missing if each.kind is Kind.CONSUMER}
        taken = self._taken(lost, expectations)
        for each in missing:
            if each.kind is Kind.TRUST:
                yield _not_ours(each, "only its owner can give it: no server of the lease can be booted or unshelved")
            elif each.kind is Kind.INVENTORY and each.name.endswith(names.ANCHOR):
                yield _not_ours(each, "nova-compute makes it from its provider configuration file")
            elif each.name in taken:
                host, lacking = taken[each.name]
                yield Difference(
                    each.kind, each.problem, each.name, each.lease_id, f"{each.detail} {lacking}".strip(), "", host
                )
            else:
                yield each

    def _taken(self, lost: Collection[str], expectations: Iterable[Expectation]) -> Mapping[str, tuple[str, str]]:
        """Return missing consumer -> host that has too little for it now, and a text that says what the host lacks."""
        by_host: dict[str, dict[str, Counter[str]]] = {}
        for expectation in expectations if lost else ():
            order = expectation.order
            for vm in lease_parts.vms(order) if order.hosts else ():
                consumer = names.consumer(order.lease_id, vm.number)
                if consumer in lost:
                    by_host.setdefault(vm.host, {})[consumer] = Counter(lease_parts.held(vm))
        found: dict[str, tuple[str, str]] = {}
        for host, consumers in by_host.items():
            node = self._nodes.find(host)
            needed = sum(consumers.values(), Counter[str]())
            present = self._placement.consumers_on(node.provider_id) if node is not None else {}
            for consumer in consumers:
                needed.subtract(present.get(consumer, {}))
            lacking = {} if node is None else self._placement.missing(node.provider_id, needed)
            if lacking:
                said = f"host {host} lacks {desired_state.amounts(lacking)}: others have taken it"
                found |= dict.fromkeys(consumers, (host, said))
        return found


def _not_ours(each: Difference, why: str) -> Difference:
    detail = f"{each.detail}; {why}" if each.detail else why
    return Difference(each.kind, each.problem, each.name, each.lease_id, detail, is_ours_to_mend=False)
