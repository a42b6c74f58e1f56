"""What a gateway can pass on to its members, and what it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.records.federated import FederatedLease
from lease_scheduler.service.core.terms import Pool, Terms, build_terms, lease_document, numbered

#: A gateway has neither hosts nor addresses nor flavors of its own.
_NOTHING = Pool((), (), {})

#: Keys of a lease that only have a meaning at one site, and the values with which they ask for nothing.
_AT_A_SITE: Mapping[str, tuple[Any, ...]] = {
    "servers": (None, [], ()),
    "before_end": (None,),
    "pool": (None,),
    "on_end": (None, "delete"),
}

#: Keys of a reservation that are conditions on the hosts of one site.
_QUERIES = ("hypervisor_properties", "resource_properties", "extra_specs", "hosts")

#: Types of reservations that every site understands in the same way.
_TYPES = ("physical:host", "virtual:instance")

#: Terms that a member can be asked to change.
CHANGEABLE = ("start", "end", "duration", "deadline", "max_price")


def passable_terms(lease: Document, now: int) -> Terms:
    """Return the terms of a lease document, if members can be asked for them.

    :raises InvalidValueError: naming the key that a gateway cannot pass on, or that is wrong
    """
    for key, nothing in _AT_A_SITE.items():
        if lease.get(key) not in nothing:
            raise InvalidValueError(key, "cannot be passed on by a gateway; leave it out, or ask the site itself")
    for number, reservation in enumerate(lease["reservations"]):
        _check(reservation, f"reservations[{number}]")
    terms = build_terms(lease, _NOTHING, now)
    return Terms(terms.request, terms.least, numbered(terms.document, terms.request))


def changed_terms(lease: FederatedLease, changes: Document, now: int) -> Terms:
    """Return the changed terms of a lease.

    :raises InvalidValueError: naming the key that a gateway cannot change, or that is wrong
    """
    present = lease_document(lease.lease, lease.document)
    for key, value in changes.items():
        if key not in CHANGEABLE and value is not None and value != present.get(key):
            raise InvalidValueError(key, "cannot be changed by a gateway; end the lease and ask for another one")
    merged = {**present, **{key: changes[key] for key in CHANGEABLE if changes.get(key) is not None}}
    if "end" in changes:
        merged["duration"] = changes.get("duration")
    since = now if lease.lease.started is None else lease.lease.started
    return build_terms(merged, _NOTHING, since, lease.lease.request.submitted)


def _check(reservation: Document, field: str) -> None:
    """Refuse a reservation that names what only one site has."""
    resource_type = reservation["resource_type"]
    if resource_type not in _TYPES:
        raise InvalidValueError(
            f"{field}.resource_type",
            f"{resource_type} names what only one site has; a gateway takes {' and '.join(_TYPES)}",
        )
    for key in _QUERIES:
        if reservation.get(key):
            raise InvalidValueError(f"{field}.{key}", "is about the hosts of one site; leave it out, or ask that site")
    if reservation.get("min") != reservation.get("max"):
        raise InvalidValueError(f"{field}.min", "must be the same as max, as a gateway cannot ask for a range")
    for number, nodes in enumerate(reservation.get("nodes") or ()):
        for key in ("properties", "hosts"):
            if nodes.get(key):
                raise InvalidValueError(f"nodes[{number}].{key}", "is about the hosts of one site; leave it out")


def unknown_site(name: str, known: Iterable[str]) -> str:
    """Return the message for a request that names a site which the gateway does not have."""
    return f"site: there is no site {name}; the sites are: {', '.join(known)}"


def in_words(error: InvalidValueError) -> RefusedError:
    """Return the refusal of a request with a wrong value."""
    return RefusedError(400, str(error), error.field)
