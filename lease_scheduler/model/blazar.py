"""How Blazar names the states, reservations and events of a lease."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any
from uuid import UUID

from lease_scheduler.model.states import LeaseState

_S = LeaseState

#: Blazar's status of a lease -> our states. STARTING and TERMINATING also depend on the operation in progress, see
#: ``lease_status``.
_STATES = {
    "CREATING": frozenset({_S.NEW}),
    "PENDING": frozenset({_S.PENDING, _S.QUEUED, _S.SCHEDULED, _S.PREPARING, _S.READY}),
    "ACTIVE": frozenset(
        {
            _S.ACTIVE,
            _S.SUSPENDING,
            _S.SUSPENDED_PENDING,
            _S.SUSPENDED_QUEUED,
            _S.SUSPENDED_SCHEDULED,
            _S.MIGRATING,
            _S.RESUMING,
            _S.RESUMED_READY,
        }
    ),
    "TERMINATED": frozenset({_S.DONE, _S.CANCELLED, _S.REJECTED_BY_USER}),
    "ERROR": frozenset({_S.FAILED, _S.REJECTED}),
}

#: (Blazar's status, operation) -> Blazar's status while the cloud carries out the operation.
_IN_OPERATION = {("PENDING", "start"): "STARTING", ("ACTIVE", "stop"): "TERMINATING"}

#: Blazar's status of a lease -> Blazar's status of its reservations.
_RESERVATION_STATUS = {
    "CREATING": "pending",
    "PENDING": "pending",
    "ACTIVE": "active",
    "TERMINATED": "deleted",
    "ERROR": "error",
}

#: Namespace of the ids of events. Ids are computed, so they never change and need no table.
_EVENTS = UUID("7c1d7a7e-6f38-4f0b-9a55-0f3b7f6e0a11").bytes

#: Resource types of reservations for servers. Each such reservation has an aggregate of hosts.
INSTANCE_TYPES = frozenset({"virtual:instance", "flavor:instance"})

#: Keys, with their defaults, that reservations of each type have in addition to the common ones.
_HOST_TERMS = {"min": 1, "max": 1, "hypervisor_properties": "", "resource_properties": "", "before_end": "default"}
_ADDRESS_TERMS: dict[str, Any] = {"network_id": "", "amount": 0, "required_floatingips": []}
_INSTANCE_TERMS = {
    "vcpus": 0,
    "memory_mb": 0,
    "disk_gb": 0,
    "amount": 0,
    "affinity": None,
    "resource_properties": "",
    "server_group_id": None,
    "aggregate_id": None,
}

_STATUS = {state: status for status, states in _STATES.items() for state in states}


def lease_status(state: str, operation: str | None) -> str:
    """Return Blazar's status of a lease.

    :param state: value of a ``LeaseState``
    :param operation: operation that the cloud is carrying out for the lease, or None
    """
    status = _STATUS[LeaseState(state)]
    return status if operation is None else _IN_OPERATION.get((status, operation), status)


def states_of(status: str) -> frozenset[LeaseState]:
    """Return the states that a status of Blazar stands for.

    STARTING stands for the states of PENDING, TERMINATING for those of ACTIVE.
    """
    source = {"STARTING": "PENDING", "TERMINATING": "ACTIVE"}.get(status, status)
    return _STATES.get(source, frozenset())


def reservation_status(state: str) -> str:
    """Return Blazar's status of the reservations of a lease.

    :param state: value of a ``LeaseState``
    """
    return _RESERVATION_STATUS[lease_status(state, None)]


def reservation_terms(reservation_id: str, resource_type: str, terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a reservation that depend on its type."""
    if resource_type == "physical:host":
        return {key: terms.get(key, default) for key, default in _HOST_TERMS.items()}
    if resource_type == "virtual:floatingip":
        return {key: terms.get(key, default) for key, default in _ADDRESS_TERMS.items()}
    # The id of the flavor that tenants boot with is always that of the reservation.
    return {key: terms.get(key, default) for key, default in _INSTANCE_TERMS.items()} | {"flavor_id": reservation_id}


def events(lease: Mapping[str, Any], start: int | None, end: int | None) -> list[dict[str, Any]]:
    """Return Blazar's events of a lease: its start, its end and the notice before the end.

    :param lease: has ``id``, ``state``, ``started``, ``ended``, ``before_end``, ``before_end_done``, ``created_at`` and
        ``updated_at``
    :param start: instant of the start, or None if unknown
    :param end: instant of the end, or None if unknown
    :return: events, whose ``time`` is an instant or None
    """
    failed = lease["state"] == LeaseState.FAILED.value
    begun = "DONE" if lease["started"] is not None else "ERROR" if failed else "UNDONE"
    over = "DONE" if lease["ended"] is not None and not failed else "ERROR" if failed else "UNDONE"
    found = [("start_lease", start, begun), ("end_lease", end, over)]
    if lease["before_end"] is not None:
        told = "DONE" if lease["before_end_done"] or over == "DONE" else "UNDONE"
        found.append(("before_end_lease", lease["before_end"], told))
    return [
        {
            "id": _event_id(lease["id"], event_type),
            "lease_id": lease["id"],
            "event_type": event_type,
            "time": time,
            "status": status,
            "created_at": lease["created_at"],
            "updated_at": lease["updated_at"],
        }
        for event_type, time, status in found
    ]


def _event_id(lease_id: str, event_type: str) -> str:
    """Return the id of an event, equal to ``uuid.uuid5``.

    This takes a third of the time of ``uuid.uuid5``, which matters because lists have three events for each lease.
    """
    digest = bytearray(sha1(_EVENTS + f"{lease_id} {event_type}".encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
