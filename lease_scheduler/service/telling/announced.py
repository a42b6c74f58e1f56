"""A lease as Blazar's notifications describe it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lease_scheduler.model.blazar import events, lease_status, reservation_status, reservation_terms
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord


def announced(lease: Lease, document: LeaseDocument) -> dict[str, Any]:
    """Return Blazar's payload, without the attributes (``ATTRIBUTES``). Dates are texts, as Blazar sends them."""
    start, end = _span(lease)
    found = events(
        {
            "id": lease.lease_id,
            "state": lease.state.value,
            "started": lease.started,
            "ended": lease.ended,
            "before_end": document.before_end,
            "before_end_done": document.before_end_done,
            "created_at": document.created_at,
            "updated_at": document.updated_at,
        },
        start,
        end,
    )
    return {
        "lease_id": lease.lease_id,
        "start_date": _date(start),
        "end_date": _date(end),
        "status": lease_status(lease.state.value, None),
        "reservations": [_reservation(lease, record) for record in document.reservations],
        "events": [{**event, **{key: _date(event[key]) for key in _DATES_OF_EVENTS}} for event in found],
        "created_at": _date(document.created_at),
        "updated_at": _date(document.updated_at),
    }


_DATES_OF_EVENTS = ("time", "created_at", "updated_at")


def _reservation(lease: Lease, record: ReservationRecord) -> dict[str, Any]:
    return {
        "id": record.reservation_id,
        "lease_id": lease.lease_id,
        "resource_id": record.resource_id,
        "resource_type": record.resource_type,
        "status": reservation_status(lease.state.value),
        "missing_resources": record.missing_resources,
        "resources_changed": record.resources_changed,
        "created_at": _date(record.created_at),
        "updated_at": _date(record.updated_at),
        **reservation_terms(record.reservation_id, record.resource_type, record.terms),
    }


def _span(lease: Lease) -> tuple[int, int]:
    """Return the start and end of a lease: as promised if it is a reservation, else as planned, run or requested."""
    request, held = lease.request, lease.holdings
    planned = (held[0].run_start, planned_end(lease)) if held else (lease.started, lease.ended)
    if lease.kind is LeaseKind.RESERVATION and request.start is not None:
        has_run = lease.ended is not None and lease.ended > request.start
        planned = (request.start, lease.ended if has_run else request.start + request.duration)
    candidates = (planned[0], request.start, lease.started, request.submitted)
    start = next(instant for instant in candidates if instant is not None)
    ends = (planned[1], lease.ended, request.deadline, start + request.duration)
    return start, next(instant for instant in ends if instant is not None)


def _date(instant: int | None) -> str | None:
    """Return an instant as oslo.messaging serialises a date. One beyond the last possible date becomes that date."""
    if instant is None:
        return None
    try:
        date = datetime.fromtimestamp(instant, UTC)
    except (OverflowError, ValueError):
        date = datetime.max
    return date.strftime("%Y-%m-%dT%H:%M:%S.%f")
