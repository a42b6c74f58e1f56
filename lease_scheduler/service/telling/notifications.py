"""Notifications about leases, with versioned payloads."""

from __future__ import annotations

from typing import Any

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.attributes import ATTRIBUTES, plain_values
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import AWAITING_APPROVAL
from lease_scheduler.service.telling.announced import announced

#: Version of the payload. The second number is raised for every added field.
PAYLOAD_VERSION = "1.10"

#: Event type, as in Blazar: the end that a project was reminded of has changed, so there will be another reminder.
BEFORE_END_STOPPED = "lease.event.before_end_lease.stop"

#: Value of the approval of a lease -> event type of the notification about it.
_APPROVAL_EVENTS = {
    Approval.AWAITING: AWAITING_APPROVAL,
    Approval.APPROVED: "lease.approved",
    Approval.DECLINED: "lease.declined",
    Approval.EXPIRED: "lease.declined",
}

#: States of a lease before it is admitted. A transition from one of them is ``lease.create``.
_NOT_ADMITTED = frozenset({LeaseState.NEW, LeaseState.PENDING})


def _payload(lease: Lease, document: LeaseDocument, instant: int) -> dict[str, Any]:
    held, values = lease.holdings, plain_values(lease, document)
    return {
        **announced(lease, document),
        **{each.name: values[each.name] for each in ATTRIBUTES if each.is_notified},
        "payload_version": PAYLOAD_VERSION,
        "kind": lease.kind.value,
        "state": lease.state.value,
        "reason": lease.reason,
        "start": held[0].run_start if held else lease.started,
        "end": planned_end(lease) if held else lease.ended,
        "offered_until": lease.offered_until,
        "negotiation_id": lease.negotiation,
        "approval": None if lease.approval is None else lease.approval.value,
        "instant": instant,
    }


def transition_message(lease: Lease, document: LeaseDocument, before: LeaseState, instant: int) -> Message:
    """Return the notification about a change of the state of a lease.

    The event types are those of Blazar where it has one: ``lease.create`` when the lease is admitted,
    ``lease.event.start_lease`` when it first runs, and ``lease.event.end_lease`` when it has ended. Otherwise it is
    ``lease.transition``.
    """
    payload = {**_payload(lease, document, instant), "state_before": before.value}
    if before in _NOT_ADMITTED:
        return Message("lease.create", payload)
    if lease.state is LeaseState.ACTIVE and lease.started == instant:
        return Message("lease.event.start_lease", payload)
    if lease.state in FINAL_STATES:
        return Message("lease.event.end_lease", payload)
    return Message("lease.transition", payload)


def approval_message(before: Lease | None, lease: Lease, document: LeaseDocument, instant: int) -> Message | None:
    """Return the notification that a lease awaits approval, or of the decision; None if neither is new.

    :param before: its value before, or None if it is new
    """
    if lease.approval is None or (before is not None and before.approval is lease.approval):
        return None
    if lease.approval is not Approval.AWAITING and (before is None or before.approval is not Approval.AWAITING):
        # A replacement has the approval of its lease from the beginning.
        return None
    event_type = _APPROVAL_EVENTS.get(lease.approval)
    return None if event_type is None else document_message(event_type, lease, document, instant)


def document_message(event_type: str, lease: Lease, document: LeaseDocument, instant: int) -> Message:
    """Return a notification about something other than a transition.

    :param event_type: such as ``lease.update``, ``lease.delete``, ``lease.event.before_end_lease`` or
        ``lease.replacement`` (the lease is offered in place of another one)
    """
    return Message(event_type, _payload(lease, document, instant))
