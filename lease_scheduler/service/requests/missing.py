"""Refusals of requests for what the site does not have at all, leased or free."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.property_query import keys, parse_query
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.core.terms import Pool, facts

_FLOATING_IP = "virtual:floatingip"
#: Resource type -> keys with queries. Flavors are left out, as they describe themselves in resource_properties.
_QUERIES = {
    "physical:host": ("hypervisor_properties", "resource_properties"),
    "virtual:instance": ("resource_properties",),
}


def check_site_has(lease: Document, pool: Pool) -> None:
    """Refuse a lease of hosts when there are none, of properties that no host has, and of unknown floating IPs.

    :param lease: a lease document (see ``api.requests.lease`` for its keys)
    :raises RefusedError: 409, names the field
    """
    for position, reservation in enumerate(lease["reservations"]):
        field = f"reservations[{position}]"
        if reservation["resource_type"] == _FLOATING_IP:
            _check_addresses(reservation, pool, field)
        else:
            _check_hosts(reservation, pool, f"nodes[{position}]" if reservation.get("nodes") else field)


def _check_hosts(reservation: Document, pool: Pool, field: str) -> None:
    if not pool.hosts:
        raise RefusedError(
            409,
            "Not enough hosts available: the pool has no hosts; an administrator fills it with "
            "lease-scheduler-manage pool fill, or lease-scheduler-embedded --fill-pool",
            reason=RefusalReason.SIZE,
        )
    if reservation.get("nodes"):
        queries = [("properties", nodes.get("properties")) for nodes in reservation["nodes"]]
    else:
        queries = [(key, reservation.get(key)) for key in _QUERIES.get(reservation["resource_type"], ())]
    for key, text in queries:
        query = parse_query(text or "")
        if pool.matching(query) != frozenset():
            continue
        known = {name for host in pool.hosts for name in facts(host)} - pool.hidden
        unknown = sorted(keys(query) - known)
        if unknown:
            raise RefusedError(
                409,
                f"Not enough hosts available: {field}.{key}: no host has the property {unknown[0]}; hosts have "
                f"{', '.join(sorted(known))}",
                f"{field}.{key}",
                reason=RefusalReason.TRAITS,
            )


def _check_addresses(reservation: Document, pool: Pool, field: str) -> None:
    network, amount = reservation["network_id"], reservation["amount"]
    found = sum(ip.floating_network_id == network and ip.reservable for ip in pool.floating_ips)
    if found < amount:
        has = f"{found} floating IP{'' if found == 1 else 's'}" if found else "no floating IPs"
        key = "amount" if found else "network_id"
        wanted = f"ask for at most {found}" if found else "name another network, or leave the reservation out"
        message = f"{field}.{key}: the site has {has} in network {network}, not {amount}; {wanted}"
        raise RefusedError(409, message, f"{field}.{key}", reason=RefusalReason.SIZE)
