"""Attributes of leases, and their plain values, which lease documents, rows and views exchange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.model.attributes import Attribute, attributes_of
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.records.documents import LeaseDocument

#: Attributes that are part of the terms, which the plan uses.
TERMS = attributes_of(LeaseRequest)
#: Attributes that the plan does not know.
REMARKS = attributes_of(LeaseDocument)

ATTRIBUTES = (*REMARKS, *TERMS)


def plain_values(request: LeaseRequest, document: LeaseDocument) -> dict[str, Any]:
    """Return the plain values of all attributes of a lease, by name."""
    remarks = {each.name: each.plain(getattr(document, each.name)) for each in REMARKS}
    return remarks | {each.name: each.plain(getattr(request, each.name)) for each in TERMS}


def values(attributes: Iterable[Attribute], plain: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values of attributes by name, as arguments for their dataclass.

    :param plain: plain values by name; an attribute that is missing or None keeps its default
    """
    return {each.name: each.value(plain[each.name]) for each in attributes if plain.get(each.name) is not None}


def asked_values(request: LeaseRequest, document: LeaseDocument) -> dict[str, Any]:
    """Return the plain values, by name, of all attributes that a request may state: those that are not computed."""
    found = plain_values(request, document)
    return {each.name: found[each.name] for each in ATTRIBUTES if not each.is_computed}
