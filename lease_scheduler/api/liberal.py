"""Tolerance for Blazar's clients: converts bodies that Blazar accepts to the form of the schemas.

This is for microversions before lease kinds only. python-chi sends numbers as texts, doni sends null for an empty
query, and blazar-dashboard sends an empty text for no affinity. Clients that change a reservation send all of it back
as it was shown.
"""

from __future__ import annotations

import re
from typing import Any

_NUMBERS = ("min", "max", "amount", "vcpus", "memory_mb", "disk_gb")
_QUERIES = ("hypervisor_properties", "resource_properties")
_WHOLE = re.compile(r"\s*[0-9]{1,9}\s*", re.ASCII)

#: Keys that a reservation has only in answers; clients cannot set them.
_SHOWN_ONLY = frozenset(
    {
        *("lease_id", "resource_id", "status", "missing_resources", "resources_changed", "created_at", "updated_at"),
        *("aggregate_id", "server_group_id"),
    }
)


def creation(body: Any) -> Any:
    """Return the body of a request for a new lease, in the form of its schema."""
    return _with_reservations(body, _terms)


def change(body: Any) -> Any:
    """Return the body of a request that changes a lease, in the form of its schema."""
    return _with_reservations(body, _changed_terms)


def _with_reservations(body: Any, change_one: Any) -> Any:
    if not isinstance(body, dict) or not isinstance(body.get("reservations"), list):
        return body
    changed = [change_one(each) if isinstance(each, dict) else each for each in body["reservations"]]
    return {**body, "reservations": changed}


def _terms(reservation: dict[str, Any]) -> dict[str, Any]:
    found = dict(reservation)
    for key in _NUMBERS:
        value = found.get(key)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            found[key] = int(value)
    for key in _QUERIES:
        if key in found and found[key] is None:
            found[key] = ""
    if found.get("affinity") == "":
        found["affinity"] = None
    if "before_end" in found and found["before_end"] is None:
        found["before_end"] = "default"
    return found


def _changed_terms(reservation: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in _terms(reservation).items() if key not in _SHOWN_ONLY}
    if found.get("flavor_id") == found.get("id"):
        # This is the reservation's own flavor, which has the id of the reservation and cannot be chosen.
        found.pop("flavor_id", None)
    return found
