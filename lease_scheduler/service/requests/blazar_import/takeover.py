"""The takeover of a whole Blazar: what is taken over, what is left out, and what prevents the takeover."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.history import Transition
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.site import SiteBuilder
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.provider_terms import NestedClasses
from lease_scheduler.service.core.terms import Pool
from lease_scheduler.service.requests.blazar_import.findings import Finding, NotTakenError, shown_instant
from lease_scheduler.service.requests.blazar_import.leases import (
    RESOURCE_TYPES,
    TakenLease,
    node_set_of_each,
    take_lease,
)
from lease_scheduler.service.requests.blazar_import.pool import TakenPool, take_pool
from lease_scheduler.service.requests.blazar_import.promises import Claim, broken_promises
from lease_scheduler.store.blazar.contents import BlazarLease, Contents

_PENDING, _ACTIVE, _TERMINATED = "PENDING", "ACTIVE", "TERMINATED"

#: Status of leases that promise nothing -> why they are left out.
_WITHOUT_PROMISE = {
    "ERROR": "has failed in Blazar (ERROR)",
    "CREATING": "was never completely created in Blazar (CREATING)",
    "DELETING": "is being deleted in Blazar (DELETING)",
}

#: Resource type of the properties of hosts.
_HOST = "physical:host"


@dataclass(frozen=True)
class ImportOptions:
    """Options of a takeover.

    :ivar history: whether to take over leases that have ended too
    :ivar leave_out: ids of leases not to take over
    """

    history: bool = False
    leave_out: frozenset[str] = frozenset()


@dataclass
class Takeover:
    """The result of a takeover.

    :ivar changes: the changes of one transaction, to be written only if nothing is refused
    :ivar known_hosts: number of hosts that are already in the pool
    :ivar known_floating_ips: number of addresses that are already in the pool
    :ivar known_leases: number of leases that the site has or had already
    :ivar left_out: what is not taken over, without breaking a promise
    :ivar refused: what cannot be taken over without breaking a promise
    :ivar differences: what is taken over with changes
    """

    changes: StoreChanges
    known_hosts: int = 0
    known_floating_ips: int = 0
    known_leases: int = 0
    left_out: list[Finding] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)
    differences: list[Finding] = field(default_factory=list)

    def leases_in(self, *states: LeaseState) -> int:
        """Return the number of leases in these states that are taken over."""
        return sum(lease.state in states for lease in self.changes.leases.values())


def take_over(
    contents: Contents, here: Snapshot, units: Units, is_known: Callable[[str], bool], now: int, wanted: ImportOptions
) -> Takeover:
    """Return the changes that take the contents of a Blazar over into a site.

    :param here: what the site already has
    :param units: numbers of its hosts and addresses; new ones get the next numbers
    :param is_known: returns whether the site has or had a lease with this id
    :param now: the present instant
    :raises InvalidValueError: Blazar does not have a lease that is to be left out
    """
    unknown = wanted.leave_out - {lease.lease_id for lease in contents.leases}
    if unknown:
        raise InvalidValueError("--leave-out", f"Blazar has no lease {min(unknown)}")
    takeover = Takeover(StoreChanges(now))
    chosen = [
        (lease, state)
        for lease in sorted(contents.leases, key=lambda lease: (lease.created_at or 0, lease.lease_id))
        if (state := _state(lease, takeover, is_known, now, wanted)) is not None
    ]
    held = {
        unit_id
        for lease, state in chosen
        if state is not LeaseState.DONE
        for reservation in lease.reservations
        for unit_id in (*reservation.hosts, *reservation.floating_ips)
    }
    pool = take_pool(contents, here.hosts, here.floating_ips, held, now)
    _add_pool(takeover, pool, contents, here)
    hosts = (*here.hosts, *pool.hosts.values())
    floating_ips = (*here.floating_ips, *pool.floating_ips.values())
    _number_new(units, here, pool)
    leases = list(_leases(takeover, pool, chosen, hosts, floating_ips, units, here.next_sequence))
    _add_leases(takeover, leases, here, now)
    takeover.refused += _broken(hosts, floating_ips, here, units, [taken.lease for taken in leases])
    return takeover


# -- which leases ----------------------------------------------------------------------------------------------


def _state(
    lease: BlazarLease, takeover: Takeover, is_known: Callable[[str], bool], now: int, wanted: ImportOptions
) -> LeaseState | None:
    """Return the state that a lease gets here, or None if it is not taken over."""
    if is_known(lease.lease_id):
        takeover.known_leases += 1
        return None
    if lease.lease_id in wanted.leave_out:
        takeover.left_out.append(Finding(_what(lease), "is to be left out"))
        return None
    if lease.status == _TERMINATED:
        return LeaseState.DONE if wanted.history else None
    reason = _WITHOUT_PROMISE.get(lease.status or "")
    if lease.status == _PENDING and lease.end <= now:
        reason = f"its time was over at {shown_instant(lease.end)}, before Blazar began it"
    types = {reservation.resource_type for reservation in lease.reservations}
    if types and types.isdisjoint(RESOURCE_TYPES):
        reason = (
            f"is of the type {', '.join(sorted(types))}, which is not known here; no host or address is held for it"
        )
    if reason is not None:
        takeover.left_out.append(Finding(_what(lease), reason))
        return None
    if lease.status not in (_PENDING, _ACTIVE):
        reason = f"Blazar is changing it ({lease.status}); let Blazar finish that"
        takeover.refused.append(Finding(_what(lease), reason))
        return None
    return LeaseState.READY if lease.status == _PENDING else LeaseState.ACTIVE


def _what(lease: BlazarLease) -> str:
    return f"lease {lease.lease_id} ({lease.name})"


# -- the pool --------------------------------------------------------------------------------------------------


def _add_pool(takeover: Takeover, taken: TakenPool, contents: Contents, here: Snapshot) -> None:
    changes = takeover.changes
    changes.hosts.update(taken.hosts)
    changes.floating_ips.update(taken.floating_ips)
    # A setting that the site already has for a property is newer.
    used = {name for host in taken.hosts.values() for name in host.properties} & contents.private_properties
    keys = {(_HOST, name) for name in used} - here.private_properties.keys()
    changes.private_properties.update(dict.fromkeys(sorted(keys), True))
    takeover.known_hosts = taken.known_hosts
    takeover.known_floating_ips = taken.known_floating_ips
    takeover.left_out += taken.left_out
    takeover.refused += taken.refused
    takeover.differences += taken.differences


def _number_new(units: Units, here: Snapshot, taken: TakenPool) -> None:
    """Number the new hosts and addresses after those that the site already has."""
    first = 1 + len(here.hosts) + len(here.floating_ips)
    new = (*(str(host_id) for host_id in sorted(taken.hosts)), *taken.floating_ips)
    for number, unit_id in enumerate(new, start=first):
        units.assign(unit_id, number)


# -- leases ----------------------------------------------------------------------------------------------------


def _leases(
    takeover: Takeover,
    taken: TakenPool,
    chosen: Collection[tuple[BlazarLease, LeaseState]],
    hosts: tuple[HostRecord, ...],
    floating_ips: tuple[FloatingIpRecord, ...],
    units: Units,
    sequence: int,
) -> Iterator[TakenLease]:
    """Yield the leases that can be taken over, and note why the others cannot."""
    names = {str(host.host_id): host.name for host in hosts} | {
        ip.floating_ip_id: ip.floating_ip_address for ip in floating_ips
    }
    for unit_id in taken.missing:
        names.pop(unit_id, None)
    numbers = {name: units.number(unit_id) for unit_id, name in names.items()}
    # Hosts and leases that are taken over are in no pool until the engine starts.
    nested = NestedClasses.of([host for host in hosts if host.pool is None])
    pool = Pool(hosts, floating_ips, {}, nested=nested)
    for lease, state in chosen:
        try:
            found = take_lease(lease, state, pool, names, numbers, sequence)
        except NotTakenError as error:
            # A lease that has ended promises nothing.
            findings = takeover.left_out if state is LeaseState.DONE else takeover.refused
            findings.append(Finding(_what(lease), str(error)))
            continue
        sequence += 1
        takeover.differences += [Finding(_what(lease), reason) for reason in found.differences]
        yield found


def _add_leases(takeover: Takeover, leases: list[TakenLease], here: Snapshot, now: int) -> None:
    changes = takeover.changes
    next_intent = here.next_intent
    for taken in leases:
        lease = taken.lease
        changes.leases[lease.lease_id] = lease
        changes.documents[lease.lease_id] = taken.document
        transition = Transition(lease.lease_id, now, LeaseState.NEW.value, lease.state.value, lease.reason)
        changes.transitions.append(transition)
        if lease.state is LeaseState.ACTIVE:
            # The cloud has the lease in Blazar's form. This operation converts it to ours, without touching servers.
            assignment = lease.holdings[0].assignment
            operation = Operation(OperationKind.ADJUST, lease.lease_id, assignment, now, now)
            changes.begun.append(Intent(next_intent, lease.lease_id, operation))
            next_intent += 1


def _broken(
    hosts: tuple[HostRecord, ...],
    floating_ips: tuple[FloatingIpRecord, ...],
    here: Snapshot,
    units: Units,
    leases: list[Lease],
) -> list[Finding]:
    """Return the promises of Blazar that cannot be kept together with those made here."""
    site = SiteBuilder().build(hosts, floating_ips)
    names = {units.number(str(host.host_id)): host.name for host in hosts}
    names |= {units.number(ip.floating_ip_id): ip.floating_ip_address for ip in floating_ips}
    claims = [
        Claim(lease.lease_id, names[number], held.start, held.end, node_set.resources, node_set.required_traits)
        for lease in (*here.leases, *leases)
        for held in lease.holdings
        for node_set, number in zip(node_set_of_each(lease.request), held.assignment, strict=True)
    ]
    return broken_promises({host.name: host for host in site.hosts}, claims, {lease.lease_id for lease in leases})
