"""Changes of a lease: from the body of a request to the changed keys of the lease document."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import Version
from lease_scheduler.api.requests.lease import before_end
from lease_scheduler.api.requests.reservation import changed_reservation
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.records.attributes import ATTRIBUTES

#: Keys that are the same in the body and in the document.
_PLAIN = ("version", *(each.name for each in ATTRIBUTES if each.changed is not None))


@dataclass(frozen=True)
class RequestedChanges:
    """The changes that a request asks for.

    :ivar terms: the changed keys of the lease document
    :ivar end_now: whether the lease ends at once
    """

    terms: Document
    end_now: bool = False


def lease_changes(body: Document, view: Document, now: int, version: Version) -> RequestedChanges:
    """Return the changes of a lease that a body of PUT asks for.

    :param body: a body that fits the schema
    :param view: the view of the lease, from the reader
    :raises ApiError: a key is invalid, which the error names, or the lease has ended
    """
    terms: Document = {key: body[key] for key in _PLAIN if key in body}
    if not set(body) - {"name"}:
        return RequestedChanges(terms)
    if (
        body.get("preemptible")
        and "preemption_mode" not in body
        and view["preemption_mode"] == PreemptionMode.NONE.value
    ):
        # A lease with the mode NONE is never preempted.
        terms["preemption_mode"] = PreemptionMode.SHELVE.value
    new_start = _new_start(body, view, now, version)
    if _has_ended(view, now):
        raise ApiError(400, "Terminated leases can only be renamed")
    start: int | None = view["start"] if new_start is None else new_start
    end = _new_end(body, view, start, now, version)
    if new_start is not None:
        terms["start"] = new_start
    terms |= _new_lengths(body, view, start, now, version)
    end_now = end is not None and end != view["end"] and end <= now and view["started"] is not None
    if end != view["end"] and not end_now:
        terms["end"] = end
    if body.get("before_end_date"):
        terms["before_end"] = before_end(body["before_end_date"], view["before_end"], start, end, now, version)
    if body.get("reservations"):
        terms["reservations"] = _changed_reservations(body["reservations"], view, version)
    return RequestedChanges(terms, end_now)


def _changed_reservations(asked: list[Document], view: Document, version: Version) -> list[Document]:
    known = {reservation["id"]: reservation for reservation in view["reservations"]}
    changed = []
    for number, reservation in enumerate(asked):
        field = f"reservations[{number}]"
        if reservation["id"] not in known:
            raise ApiError(400, f"{field}.id: there is no reservation {reservation['id']} in this lease", f"{field}.id")
        changed.append(changed_reservation(reservation, known.pop(reservation["id"]), field, version))
    return changed


def _has_ended(view: Document, now: int) -> bool:
    return view["ended"] is not None or (view["end"] is not None and view["end"] < dates.minute_of(now))


def _has_started(view: Document, now: int) -> bool:
    return view["started"] is not None or (view["start"] is not None and view["start"] < dates.minute_of(now))


def _new_start(body: Document, view: Document, now: int, version: Version) -> int | None:
    """Return the new start, or None if it stays."""
    if "start_date" not in body:
        return None
    text = body["start_date"]
    if not LeaseKind(view["kind"]).has_start:
        raise ApiError(400, f"start_date: a lease of kind {view['kind']} has none; leave it out", "start_date")
    new = dates.parse_date(text, "start_date", now, version)
    # A deadline lease shows its planned start. Clients that send it back, exact to the minute, change nothing. Before
    # the lease has started, a date with seconds asks for an earliest start, even if it equals the planned one.
    meant = {view["requested_start"]}
    if view["started"] is not None or not dates.names_seconds(text):
        meant.add(view["start"])
    if any(dates.is_same_date(text, new, old) for old in meant if old is not None):
        return None
    if _has_started(view, now):
        raise ApiError(400, "Cannot modify the start date of already started leases", "start_date")
    if new < dates.minute_of(now):
        raise ApiError(400, "Start date must be later than current date", "start_date")
    if text == dates.NOW and "duration" in body:
        # Counting the duration from the start of the minute would shorten the lease.
        return now
    return new


def _new_end(body: Document, view: Document, start: int | None, now: int, version: Version) -> int | None:
    old: int | None = view["end"]
    fixed = LeaseKind(view["kind"]).promises_interval
    text = body.get("end_date")
    if text is not None and not fixed:
        raise ApiError(400, f"end_date: a lease of kind {view['kind']} has none; change its duration", "end_date")
    new = old if text is None else dates.parse_changed_date(text, "end_date", old, now, version)
    if text is None or new is None or new == old:
        is_wrong = fixed and old is not None and start is not None and old <= start
    else:
        least = start if start is None or dates.names_seconds(text) else dates.minute_of(start)
        is_wrong = new < dates.minute_of(now) or (least is not None and new < least)
    if is_wrong:
        raise ApiError(400, "End date must be later than current and start date", "end_date")
    return new


def _new_lengths(body: Document, view: Document, start: int | None, now: int, version: Version) -> Document:
    """Return the new duration and deadline. For a lease with a fixed end, the duration becomes a new end."""
    found: Document = {}
    if "duration" in body:
        duration = dates.parse_duration(body["duration"], "duration")
        if not LeaseKind(view["kind"]).promises_interval:
            found["duration"] = duration
        elif "end_date" in body:
            raise ApiError(400, "duration: give end_date or duration, not both", "duration")
        elif start is not None:
            found["end"] = _not_past(start + duration, now)
            if body.get("start_date") == dates.NOW:
                # The engine counts the duration from its own clock, so that the time until the request reaches it does
                # not shorten the lease.
                found["duration"] = duration
    if "deadline" in body:
        if view["kind"] != LeaseKind.DEADLINE.value:
            raise ApiError(400, f"deadline: a lease of kind {view['kind']} has none; leave it out", "deadline")
        deadline = dates.parse_changed_date(body["deadline"], "deadline", view["deadline"], now, version)
        found["deadline"] = _not_past(deadline, now, "deadline")
    return found


def _not_past(instant: int, now: int, field: str = "duration") -> int:
    if instant <= now:
        raise ApiError(400, f"{field}: must not lie in the past; it comes to {dates.iso_date(instant)}", field)
    return instant


def move_changes(asked: Document, view: Document, now: int, version: Version) -> RequestedChanges:
    """Return the changes of a lease that ``move`` to another time asks for.

    A lease with a fixed end keeps its length if only the start is given. PUT keeps the end then, as Blazar does.

    :param asked: ``start_date``, ``end_date`` or both, possibly with ``max_price``
    :raises ApiError: a key is invalid, which the error names, or the lease has ended
    """
    keeps_length = "start_date" in asked and "end_date" not in asked and LeaseKind(view["kind"]).promises_interval
    if keeps_length and view["start"] is not None and view["end"] is not None:
        asked = {**asked, "duration": view["end"] - view["start"]}
    return lease_changes(asked, view, now, version)


def span_changes(action: str, asked: Document, view: Document, now: int, version: Version) -> RequestedChanges:
    """Return the changes of a lease that ``extend`` or ``shrink`` asks for.

    :param asked: one of ``end_date``, ``duration``, ``by`` and (shrink) ``reservations``, possibly with ``max_price``
    :raises ApiError: 400, a key is invalid, which the error names; 409, the lease has no length that could change
    """
    limit = {"max_price": asked["max_price"]} if "max_price" in asked else {}
    if len(asked) - len(limit) != 1:
        raise ApiError(400, f"{action}: give one of by, end_date and duration", action)
    if "reservations" in asked:
        return lease_changes(asked, view, now, version)
    sign = 1 if action == "extend" else -1
    fixed = LeaseKind(view["kind"]).promises_interval
    key = "end" if fixed else "duration"
    old = view[key]
    if old is None:
        raise ApiError(409, f"{action}: this lease has no {key} that could change", action)
    if "by" in asked:
        new = old + sign * dates.parse_duration(asked["by"], f"{action}.by")
        body: Document = {"end_date": dates.lease_date(new)} if fixed else {"duration": new}
        if new <= 0:
            raise ApiError(400, f"{action}.by: the lease is not that long", f"{action}.by")
        changes = lease_changes({**body, **limit}, view, now, version)
    else:
        changes = lease_changes(asked, view, now, version)
    new = now if changes.end_now else changes.terms.get(key, old)
    if sign * (new - old) <= 0:
        wanted = "later" if sign > 0 else "earlier"
        raise ApiError(400, f"{action}: the new end must be {wanted} than the old one", action)
    return changes
