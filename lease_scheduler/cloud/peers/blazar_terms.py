"""Terms of leases as bodies of requests to Blazar's API v1, and what Blazar cannot do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST

_MINUTE = 60
_FORMAT = "%Y-%m-%d %H:%M"
#: Word for the present minute.
_NOW = "now"
#: Kinds that Blazar can grant: a lease has a fixed interval.
_KINDS = frozenset({LeaseKind.RESERVATION, LeaseKind.IMMEDIATE})
_HOSTS, _INSTANCES = "physical:host", "virtual:instance"
#: Properties of hosts by the resource classes that they limit.
_PROPERTIES = {VCPU: "vcpus", MEMORY_MB: "memory_mb", DISK_GB: "local_gb"}
#: Keys of a reservation that say what it is for; a change may have those in the second place of each.
_TERMS = {_HOSTS: ("min", "max", "hypervisor_properties"), _INSTANCES: ("amount", "vcpus", "memory_mb", "disk_gb")}


class BeyondBlazarError(InvalidValueError):
    """Terms that no site with Blazar can grant."""


def body_of(terms: LeaseRequest) -> dict[str, Any]:
    """Return the body of a request for a lease, whose name is its id.

    :raises BeyondBlazarError: Blazar has nothing of the kind
    :raises InvalidValueError: naming what only has a meaning at the site that the terms were made for
    """
    if terms.kind not in _KINDS:
        kinds = " and ".join(sorted(kind.value for kind in _KINDS))
        raise BeyondBlazarError("kind", f"Blazar grants leases of kind {kinds}, not {terms.kind.value}")
    for field, is_given in (
        ("pool", terms.pool is not None),
        ("software", terms.software is not None or bool(terms.image_ids)),
        ("moves_others", terms.moves_others),
    ):
        if is_given:
            raise InvalidValueError(field, "has a meaning at its own site only; leave it out")
    return {
        "name": terms.lease_id,
        **_times(terms),
        "reservations": [_reservation(each, f"nodes[{number}]") for number, each in enumerate(terms.nodes)],
        "events": [],
    }


def changes_of(terms: LeaseRequest, present: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a change to these terms changes; empty if it is nothing.

    :param present: the lease as Blazar shows it
    :raises BeyondBlazarError: Blazar does not change it, or not as a whole
    :raises InvalidValueError: as in ``body_of``
    """
    body, shown = body_of(terms), present["reservations"]
    if len(shown) != 1 or len(terms.nodes) != 1:
        # Blazar changes one reservation after the other, and does not undo the first if the second fails.
        raise BeyondBlazarError("nodes", "Blazar changes a lease with several node sets only in part")
    (wanted,) = body["reservations"]
    if wanted["resource_type"] != shown[0]["resource_type"]:
        raise BeyondBlazarError("nodes", "whole hosts and instances are not changed into each other")
    found = {
        key: body[key] for key in ("start_date", "end_date") if body[key] not in (_NOW, shown_minute(present[key]))
    }
    changed = {key: wanted[key] for key in _TERMS[wanted["resource_type"]] if wanted[key] != _shown(shown[0], key)}
    if changed:
        found["reservations"] = [{"id": shown[0]["id"], **changed}]
    return found


def are_same(terms: LeaseRequest, present: Mapping[str, Any]) -> bool:
    """Return whether a lease that Blazar shows was requested with these terms.

    Of a lease that started at once, the times are not compared: they follow from the instant of the request.
    """
    body, shown = body_of(terms), present["reservations"]
    if terms.kind is LeaseKind.RESERVATION and any(
        body[key] != shown_minute(present[key]) for key in ("start_date", "end_date")
    ):
        return False
    wanted = sorted((_key(each) for each in body["reservations"]), key=repr)
    return wanted == sorted((_key(each) for each in shown), key=repr)


def instant_of(date: str) -> int:
    """Return the instant of a date that Blazar shows, which is UTC.

    :raises ValueError: it is not a date
    """
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())


def shown_minute(date: str) -> str:
    """Return a date that Blazar shows in the form of a request.

    :raises ValueError: it is not a date
    """
    return _date(instant_of(date))


def _times(terms: LeaseRequest) -> dict[str, str]:
    if terms.duration >= UNLIMITED:
        raise BeyondBlazarError("duration", "leases of Blazar have an end; give one")
    if terms.start is None:
        # Never shorter than requested, whenever in its minute it starts.
        end = -(-(terms.submitted + terms.duration) // _MINUTE) * _MINUTE
        return {"start_date": _NOW, "end_date": _date(end)}
    for field, instant in (("start", terms.start), ("end", terms.start + terms.duration)):
        if instant % _MINUTE:
            seconds = instant % _MINUTE
            raise BeyondBlazarError(field, f"Blazar has whole minutes only, and this is {seconds} s after one")
    return {"start_date": _date(terms.start), "end_date": _date(terms.start + terms.duration)}


def _reservation(nodes: NodeSet, field: str) -> dict[str, Any]:
    if nodes.hosts is not None:
        raise InvalidValueError(f"{field}.hosts", "names hosts of another site")
    for name, is_given in (
        ("traits", bool(nodes.required_traits)),
        ("groups", bool(nodes.groups)),
        ("per_host", nodes.per_host is not None),
        ("min_yield", bool(nodes.fluid)),
        ("count", nodes.count_range is not None),
    ):
        if is_given:
            raise BeyondBlazarError(f"{field}.{name}", "Blazar cannot grant it; leave it out")
    sizes = {name: amount for name, amount in nodes.resources.items() if name != HOST_SHARE and amount}
    for name in sizes.keys() - _PROPERTIES.keys():
        raise BeyondBlazarError(f"{field}.resources.{name}", f"Blazar knows only {', '.join(_PROPERTIES)}")
    if nodes.resources.get(HOST_SHARE) == WHOLE_HOST:
        return {
            "resource_type": _HOSTS,
            "min": nodes.count,
            "max": nodes.count,
            "hypervisor_properties": _at_least(sizes),
            "resource_properties": "",
        }
    for name in (VCPU, MEMORY_MB):
        if name not in sizes:
            raise BeyondBlazarError(f"{field}.resources.{name}", "is missing; Blazar makes a flavor of it")
    return {
        "resource_type": _INSTANCES,
        "amount": nodes.count,
        "vcpus": sizes[VCPU],
        "memory_mb": sizes[MEMORY_MB],
        "disk_gb": sizes.get(DISK_GB, 0),
        "affinity": None,
        "resource_properties": "",
    }


def _at_least(sizes: Mapping[str, int]) -> str:
    """Return the query for hosts that have at least these amounts; empty for all hosts."""
    conditions = [[">=", f"${_PROPERTIES[name]}", str(sizes[name])] for name in sorted(sizes)]
    if not conditions:
        return ""
    return json.dumps(conditions[0] if len(conditions) == 1 else ["and", *conditions])


def _key(reservation: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a reservation is for."""
    found = reservation["resource_type"]
    return found, *(_shown(reservation, key) for key in _TERMS.get(found, ()))


def _shown(reservation: Mapping[str, Any], key: str) -> Any:
    """Return a term of a reservation; Blazar may show numbers as texts, and no query as null."""
    value = reservation.get(key)
    if key == "hypervisor_properties":
        return value or ""
    return None if value is None else int(value)


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime(_FORMAT)
