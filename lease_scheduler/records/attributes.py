"""Attributes of leases, and their plain values, which lease documents, rows and views exchange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.model.attributes import Attribute, attributes_of
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.records.documents import LeaseDocument

#: Attributes that are part of the terms, which the plan uses.
TERMS = attributes_of(LeaseRequest)
#: Attributes that the service answers to a request.
ANSWERS = attributes_of(Grant)
#: Attributes that the plan does not know.
REMARKS = attributes_of(LeaseDocument)

ATTRIBUTES = (*REMARKS, *TERMS, *ANSWERS)


def plain_values(lease: Lease, document: LeaseDocument) -> dict[str, Any]:
    """Return the plain values of all attributes of a lease, by name."""
    return {**_plain(REMARKS, document), **_plain(TERMS, lease.request), **_plain(ANSWERS, lease.grant)}


def _plain(attributes: Iterable[Attribute], carrier: object) -> dict[str, Any]:
    return {each.name: each.plain(getattr(carrier, each.name)) for each in attributes}


def values(attributes: Iterable[Attribute], plain: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values of attributes by name, as arguments for their dataclass.

    :param plain: plain values by name; an attribute that is missing or None keeps its default
    """
    return {each.name: each.value(plain[each.name]) for each in attributes if plain.get(each.name) is not None}


def asked_values(request: LeaseRequest, document: LeaseDocument) -> dict[str, Any]:
    """Return the plain values, by name, of all attributes that a request may state: those that are not computed."""
    found = {**_plain(REMARKS, document), **_plain(TERMS, request)}
    return {each.name: found[each.name] for each in (*REMARKS, *TERMS) if not each.is_computed}
