"""Leases of Blazar in the form of the service: the same terms, and the same hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.terms import Pool, Terms, build_terms, numbered
from lease_scheduler.service.requests.blazar_import.findings import NotTakenError
from lease_scheduler.service.requests.blazar_import.flavors import SourceFlavor, source_flavor
from lease_scheduler.service.requests.blazar_import.pool import shown_address
from lease_scheduler.store.blazar.contents import BlazarLease, BlazarReservation

HOST = "physical:host"
INSTANCE = "virtual:instance"
FLAVOR = "flavor:instance"
FLOATING_IP = "virtual:floatingip"
RESOURCE_TYPES = frozenset({HOST, INSTANCE, FLAVOR, FLOATING_IP})


@dataclass(frozen=True)
class TakenLease:
    """A lease with its document.

    :ivar differences: what differs from the lease in Blazar, for people
    """

    lease: Lease
    document: LeaseDocument
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    """A reservation, with the terms to plan and the units that it has.

    :ivar shown: the terms that the project sees
    :ivar planned: the same terms, with the number of nodes that the reservation has
    :ivar units: name of the host, or address, of each node
    :ivar flavor: the flavor that it was made from, or None
    :ivar lacking: whether it has fewer nodes than were promised
    """

    reservation: BlazarReservation
    shown: Document
    planned: Document
    units: tuple[str, ...]
    flavor: SourceFlavor | None = None
    lacking: bool = False


def take_lease(
    lease: BlazarLease,
    state: LeaseState,
    pool: Pool,
    names: Mapping[str, str],
    numbers: Mapping[str, int],
    sequence: int,
) -> TakenLease:
    """Return a lease of Blazar in the form of the service.

    :param state: ready, active or done
    :param pool: all hosts and addresses
    :param names: name of each host, or address, by Blazar's id
    :param numbers: number in the plan of each host or address, by name
    :param sequence: sequence number of the lease
    :raises NotTakenError: the lease cannot be taken over
    """
    is_over = state is LeaseState.DONE
    parts = [_part(reservation, names, is_over=is_over) for reservation in lease.reservations]
    terms = _terms(lease, parts, pool)
    nodes = _with_own_hosts(terms, parts, pool)
    request = replace(terms.request, nodes=nodes)
    document = _document(lease, parts, numbered(terms.document, request), is_over=is_over)
    assignment = tuple(numbers[unit] for part in parts for unit in part.units)
    held = Holding(assignment, lease.start, lease.start, lease.end, lease.end)
    has_begun = state is not LeaseState.READY
    taken = Lease(
        request,
        sequence,
        state,
        started=lease.start if has_begun else None,
        ended=lease.end if is_over else None,
        active_since=lease.start if state is LeaseState.ACTIVE else None,
        holdings=() if is_over else (held,),
        reason="over in Blazar" if is_over else "taken over from Blazar",
    )
    return TakenLease(taken, document, () if is_over else _differences(parts))


# -- reservations ----------------------------------------------------------------------------------------------


def _part(reservation: BlazarReservation, names: Mapping[str, str], *, is_over: bool) -> _Part:
    what = f"its reservation {reservation.reservation_id}"
    if reservation.resource_type not in RESOURCE_TYPES:
        raise NotTakenError(f"{what} is of the type {reservation.resource_type}, which is not known here")
    if reservation.terms is None:
        raise NotTakenError(f"{what} has no terms")
    build = {HOST: _hosts, INSTANCE: _instances, FLAVOR: _instances, FLOATING_IP: _addresses}
    ids = reservation.floating_ips if reservation.resource_type == FLOATING_IP else reservation.hosts
    # Blazar deletes the allocations of a lease at its end.
    units = [] if is_over else [_name(unit_id, names) for unit_id in ids]
    part = build[reservation.resource_type](reservation, reservation.terms, units)
    if not is_over and not part.units:
        raise NotTakenError(f"{what} has nothing left in Blazar")
    return part


def _name(unit_id: str, names: Mapping[str, str]) -> str:
    if unit_id not in names:
        raise NotTakenError(f"it has host or floating IP {unit_id}, which is not taken over")
    return names[unit_id]


def _hosts(reservation: BlazarReservation, terms: Mapping[str, Any], units: list[str]) -> _Part:
    fewest, _, most = str(terms["count_range"]).partition("-")
    if not (fewest.isdigit() and most.isdigit()):
        raise NotTakenError(f"its reservation {reservation.reservation_id} has no number of hosts")
    shown: Document = {
        "min": int(fewest),
        "max": int(most),
        "hypervisor_properties": terms["hypervisor_properties"] or "",
        "resource_properties": terms["resource_properties"] or "",
        "before_end": terms["before_end"] or "",
    }
    count = len(units) or shown["min"]
    planned = {**shown, "min": min(shown["min"], count), "max": count}
    return _Part(reservation, shown, planned, tuple(units), lacking=count < shown["min"])


def _instances(reservation: BlazarReservation, terms: Mapping[str, Any], units: list[str]) -> _Part:
    amount = terms["amount"]
    flavor = source_flavor(terms["resource_properties"]) if reservation.resource_type == FLAVOR else None
    shown = {**terms, "resource_properties": terms["resource_properties"] or ""}
    if flavor is not None:
        shown["flavor_id"] = flavor.flavor_id
    count = len(units) or amount
    # Look the flavor up by the reservation, as other reservations may be made from other versions of the same flavor.
    planned = {**shown, "amount": count, "flavor_id": reservation.reservation_id}
    if terms["affinity"] is True and units:
        if len(set(units)) > 1:
            raise NotTakenError(f"its reservation {reservation.reservation_id} has affinity, but more than one host")
        units = units[:1]
    return _Part(reservation, shown, planned, tuple(units), flavor, lacking=count < amount)


def _addresses(reservation: BlazarReservation, terms: Mapping[str, Any], units: list[str]) -> _Part:
    required = [shown_address(address) for address in terms["required_floatingips"]]
    shown = {**terms, "required_floatingips": required}
    if units:
        if len(units) != terms["amount"] or not set(required) <= set(units):
            raise NotTakenError(f"its reservation {reservation.reservation_id} has other addresses than it asked for")
        units = [*required, *sorted(set(units) - set(required))]
    return _Part(reservation, shown, shown, tuple(units))


# -- the lease -------------------------------------------------------------------------------------------------


def _terms(lease: BlazarLease, parts: list[_Part], pool: Pool) -> Terms:
    flavors = {part.reservation.reservation_id: part.flavor.needs for part in parts if part.flavor is not None}
    document = {
        "id": lease.lease_id,
        "name": lease.name,
        "project_id": lease.project_id or "",
        "user_id": lease.user_id or "",
        "trust_id": lease.trust_id or None,
        "kind": LeaseKind.RESERVATION.value,
        "start": lease.start,
        "end": lease.end,
        "before_end": lease.before_end,
        "reservations": [
            {
                **part.planned,
                "id": part.reservation.reservation_id,
                "resource_type": part.reservation.resource_type,
            }
            for part in parts
        ],
    }
    submitted = lease.start if lease.created_at is None else lease.created_at
    try:
        # With the start as the present instant, because a start in the past would be moved to the present.
        return build_terms(document, replace(pool, flavors=flavors), lease.start, submitted)
    except InvalidValueError as error:
        raise NotTakenError(f"its terms do not make sense here: {error}") from error


def _with_own_hosts(terms: Terms, parts: list[_Part], pool: Pool) -> tuple[NodeSet, ...]:
    """Return the node sets, each extended so that it may use the hosts that it has.

    Blazar compares properties as texts and reads only a part of nested queries. So a node set may have hosts that its
    query does not find here.
    """
    found: list[NodeSet] = []
    remaining = list(terms.request.nodes)
    for part, record in zip(parts, terms.document.reservations, strict=True):
        own, remaining = remaining[: record.node_sets], remaining[record.node_sets :]
        if part.reservation.resource_type == FLOATING_IP:
            found += own
            continue
        forbidden = frozenset[str]() if part.flavor is None else part.flavor.forbidden
        for node_set in own:
            allowed = node_set.hosts
            if forbidden:
                free_of_it = {host.name for host in pool.hosts if forbidden.isdisjoint(host.traits)}
                allowed = frozenset(free_of_it if allowed is None else free_of_it & allowed)
            found.append(node_set if allowed is None else replace(node_set, hosts=allowed | set(part.units)))
    return tuple(found)


def _document(lease: BlazarLease, parts: list[_Part], document: LeaseDocument, *, is_over: bool) -> LeaseDocument:
    """Return the document of the lease, with Blazar's ids, flags and times."""
    created = _time(lease.created_at, lease.start)
    return replace(
        document,
        created_at=created,
        updated_at=lease.updated_at,
        before_end_done=lease.before_end_done or is_over,
        degraded=lease.degraded or any(part.lacking for part in parts),
        reservations=tuple(
            replace(
                record,
                resource_id=part.reservation.resource_id or record.resource_id,
                terms=part.shown,
                created_at=_time(part.reservation.created_at, created),
                updated_at=part.reservation.updated_at,
                missing_resources=part.reservation.missing_resources or part.lacking,
                resources_changed=part.reservation.resources_changed,
            )
            for part, record in zip(parts, document.reservations, strict=True)
        ),
    )


def _time(given: int | None, other: int) -> int:
    """Return the time that Blazar gives, or the other one if it gives none."""
    return other if given is None else given


def _differences(parts: list[_Part]) -> tuple[str, ...]:
    return tuple(
        f"reservation {part.reservation.reservation_id} has fewer hosts than were promised, {len(part.units)}"
        for part in parts
        if part.lacking
    )


def node_set_of_each(request: LeaseRequest) -> list[NodeSet]:
    """Return the node set of each node."""
    return [node_set for node_set in request.nodes for _ in range(node_set.count)]
