"""Reservations: from the body of a request to the reservations of a lease document."""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Mapping
from typing import Any

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_2, Version
from lease_scheduler.api.schemas.reservations import FLAVOR, FLOATING_IP, HOST, INSTANCE, KEYS_OF_TYPE
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.property_query import parse_query
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU

_QUERIES = ("hypervisor_properties", "resource_properties")


def new_reservation(asked: Mapping[str, Any], field: str, version: Version) -> Document:
    """Return a reservation for a lease document.

    :param asked: a reservation that fits the schema
    :param field: its JSON path
    :param version: microversion of the request
    :raises ApiError: a value is invalid, or contradicts another one
    """
    resource_type = asked["resource_type"]
    terms = {**_defaults(resource_type), **asked}
    return {"id": str(uuid.uuid4()), **_checked(terms, resource_type, field, version)}


def changed_reservation(asked: Mapping[str, Any], known: Document, field: str, version: Version) -> Document:
    """Return the keys of a reservation that change, and its id.

    :param known: the reservation in the view of its lease
    :raises ApiError: 400, a key is invalid; 409, the reservation cannot be changed in this way
    """
    resource_type = known["resource_type"]
    if asked.get("resource_type", resource_type) != resource_type:
        raise ApiError(409, f"Can't update resource_type: {field} is a {resource_type}", f"{field}.resource_type")
    present = known.get("terms", {})
    # Clients of Blazar also send back the keys that they do not change.
    changes = {
        key: value
        for key, value in asked.items()
        if key not in ("id", "resource_type") and (version >= V1_2 or key not in present or present[key] != value)
    }
    if resource_type == FLAVOR:
        raise ApiError(409, f"Can't update {field}: only the dates of a {FLAVOR} reservation can change", field)
    for key in changes:
        if key not in KEYS_OF_TYPE[resource_type]:
            wanted = ", ".join(sorted(KEYS_OF_TYPE[resource_type]))
            raise ApiError(400, f"{field}.{key}: a {resource_type} has {wanted}", f"{field}.{key}")
    terms = {**_defaults(resource_type), **known.get("terms", {}), **changes}
    checked = _checked(terms, resource_type, field, version)
    changed = {"id": known["id"], **{key: checked[key] for key in changes}}
    if terms.get("nodes") and changes:
        changed["nodes"] = [_changed_nodes(checked, changes, resource_type, field)]
    return changed


def _changed_nodes(terms: Document, changes: Document, resource_type: str, field: str) -> Document:
    """Return the changed node set of a reservation that was requested as nodes and is changed in Blazar's terms.

    :param terms: the reservation with its changes
    :raises ApiError: 409, a node set has no such property
    """
    if len(terms["nodes"]) > 1:
        raise ApiError(409, f"Can't update {field}: a maintenance keeps its hosts", field)
    nodes = dict(terms["nodes"][0])
    for key in ("hypervisor_properties", "before_end", "ephemeral_gb", "extra_specs"):
        if changes.get(key):
            raise ApiError(409, f"Can't update {field}.{key}: the lease was made of nodes", f"{field}.{key}")
    if "resource_properties" in changes:
        nodes["properties"] = terms["resource_properties"]
    if resource_type == HOST:
        return {**nodes, "count": terms["max"], "least": terms["min"]}
    if terms["affinity"] is True:
        raise ApiError(409, f"Can't update {field}.affinity: the lease was made of nodes", f"{field}.affinity")
    if "affinity" in changes:
        nodes["per_host"] = 1 if terms["affinity"] is False else None
    of_class = {VCPU: "vcpus", MEMORY_MB: "memory_mb", DISK_GB: "disk_gb"}
    given = {name: terms[key] for name, key in of_class.items() if key in changes}
    resources = {name: amount for name, amount in {**nodes["resources"], **given}.items() if amount}
    # A size that is given anew is not elastic.
    least = {name: amount for name, amount in (nodes.get("least_resources") or {}).items() if name not in given}
    return {**nodes, "count": terms["amount"], "resources": resources, "least_resources": least or None}


def node_reservation(nodes: Mapping[str, Any], field: str, version: Version) -> Document:
    """Return the reservation for a node set: of whole hosts if the nodes are exclusive, else of instances.

    :raises ApiError: 400, its query is invalid, or it has no resources and is not exclusive
    """
    query = nodes.get("properties", "")
    _check_query(query, f"{field}.properties", version)
    resources, count = dict(nodes.get("resources", {})), nodes["count"]
    groups = [
        {"resources": dict(each["resources"]), "traits": sorted(each.get("traits", []))}
        for each in nodes.get("groups", [])
    ]
    if not resources and not groups and not nodes.get("exclusive"):
        raise ApiError(400, f"{field}.resources: is needed for nodes that are not exclusive", f"{field}.resources")
    least = nodes.get("least_resources")
    for name, amount in (least or {}).items():
        if amount > resources.get(name, 0):
            key = f"{field}.least_resources.{name}"
            most = (
                f"must be at most {resources[name]}, which resources has"
                if name in resources
                else "is not in resources"
            )
            raise ApiError(400, f"{key}: {most}", key)
    node_set = {
        "count": count,
        "resources": resources,
        "least_resources": least,
        "traits": sorted(nodes.get("traits", [])),
        "properties": query,
        "exclusive": nodes.get("exclusive", False),
        "per_host": nodes.get("per_host"),
    }
    if groups:
        node_set["groups"] = groups
    common = {"id": str(uuid.uuid4()), "resource_properties": query, "nodes": [node_set]}
    if node_set["exclusive"]:
        return {
            **common,
            "resource_type": HOST,
            "min": count,
            "max": count,
            "hypervisor_properties": "",
            "before_end": "default",
        }
    return {
        **common,
        "resource_type": INSTANCE,
        "amount": count,
        "affinity": False if node_set["per_host"] == 1 else None,
        "vcpus": resources.get(VCPU, 0),
        "memory_mb": resources.get(MEMORY_MB, 0),
        "disk_gb": resources.get(DISK_GB, 0),
    }


def maintenance_reservation(names: list[str]) -> Document:
    """Return the reservation that keeps these hosts, given by name, free of leases."""
    return {
        "id": str(uuid.uuid4()),
        "resource_type": HOST,
        "min": len(names),
        "max": len(names),
        "hypervisor_properties": "",
        "resource_properties": "",
        "before_end": "",
        "hosts": names,
        "nodes": [{"count": 1, "resources": {}, "exclusive": True, "hosts": [name]} for name in names],
    }


def _defaults(resource_type: str) -> Document:
    if resource_type == HOST:
        return {"before_end": "default"}
    if resource_type == FLOATING_IP:
        return {"required_floatingips": []}
    return {"affinity": None, "resource_properties": ""}


def _checked(terms: Document, resource_type: str, field: str, version: Version) -> Document:
    if resource_type == HOST and terms["max"] < terms["min"]:
        raise ApiError(
            400, "Invalid values for min/max of hosts. Max must be equal to or larger than min.", f"{field}.max"
        )
    if resource_type in (INSTANCE, FLAVOR):
        terms["affinity"] = _affinity(terms["affinity"])
    if resource_type == INSTANCE:
        # Warre sends null for a flavor that has none.
        for key, nothing in (("ephemeral_gb", 0), ("extra_specs", {})):
            if key in terms:
                terms[key] = terms[key] or nothing
    if resource_type == FLAVOR:
        if terms["affinity"] is not None:
            raise ApiError(409, f"{field}.affinity: a {FLAVOR} reservation has none; send null", f"{field}.affinity")
        terms["flavor_id"] = str(terms["flavor_id"])
        # Blazar accepts this query for flavors, and ignores it.
        terms["resource_properties"] = ""
    if resource_type == FLOATING_IP:
        _check_addresses(terms, field)
    for key in _QUERIES:
        if key in KEYS_OF_TYPE[resource_type]:
            _check_query(terms[key], f"{field}.{key}", version)
    return terms


def _affinity(value: bool | str | None) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value


def _check_query(text: str, field: str, version: Version) -> None:
    try:
        parse_query(text, field=field, extended=version >= V1_2)
    except InvalidValueError as error:
        raise ApiError(400, f"{error.problem} ({field})", field) from error


def _check_addresses(terms: Document, field: str) -> None:
    place = f"{field}.required_floatingips"
    addresses = terms["required_floatingips"]
    if len(addresses) > terms["amount"]:
        raise ApiError(400, f"{place}: must have at most amount = {terms['amount']} addresses", place)
    for number, address in enumerate(addresses):
        check_address(address, f"{place}[{number}]")
    if len(set(addresses)) < len(addresses):
        raise ApiError(400, f"{place}: must not hold an address twice", place)


def check_address(text: str, field: str) -> None:
    """Check that a text is an IP address.

    :raises ApiError: 400, it is not
    """
    try:
        ipaddress.ip_address(text)
    except ValueError as error:
        raise ApiError(400, f"IP address {text} is invalid ({field})", field) from error
