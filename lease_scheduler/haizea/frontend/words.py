"""Haizea's numbers and words for states and kinds of leases, on which scripts of its users rely (haizea F15)."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState

_S = LeaseState

#: State -> its number, used in the XML attribute ``state``, and its word, used in lists.
_STATES: dict[LeaseState, tuple[int, str]] = {
    _S.NEW: (0, "New"),
    _S.PENDING: (1, "Pending"),
    _S.REJECTED: (2, "Rejected"),
    _S.SCHEDULED: (3, "Scheduled"),
    _S.QUEUED: (4, "Queued"),
    _S.CANCELLED: (5, "Cancelled"),
    _S.PREPARING: (6, "Preparing"),
    _S.READY: (7, "Ready"),
    _S.ACTIVE: (8, "Active"),
    _S.SUSPENDING: (9, "Suspending"),
    _S.SUSPENDED_PENDING: (10, "Suspended-Pending"),
    _S.SUSPENDED_QUEUED: (11, "Suspended-Queued"),
    _S.SUSPENDED_SCHEDULED: (12, "Suspended-Scheduled"),
    _S.MIGRATING: (13, "Migrating"),
    _S.RESUMING: (14, "Resuming"),
    _S.RESUMED_READY: (15, "Resumed-Ready"),
    _S.DONE: (16, "Done"),
    _S.FAILED: (17, "Fail"),
    _S.REJECTED_BY_USER: (18, "Rejected by user"),
}

_KINDS = {
    LeaseKind.BEST_EFFORT: "Best-effort",
    LeaseKind.RESERVATION: "AR",
    LeaseKind.IMMEDIATE: "Immediate",
    LeaseKind.DEADLINE: "Deadline",
}


def state_number(state: LeaseState) -> int:
    """Return Haizea's number for a state."""
    return _STATES[state][0]


def state_word(number: str) -> str:
    """Return Haizea's word for the number of a state.

    :raises InvalidValueError: there is no such state
    """
    for known, word in _STATES.values():
        if number == str(known):
            return word
    raise InvalidValueError("<lease state>", f"must be from 0 to {len(_STATES) - 1}, not {number!r}")


def kind_word(kind: LeaseKind) -> str:
    """Return Haizea's word for a kind of lease."""
    return _KINDS[kind]
