"""The lease state machine (haizea F15; Sotomayor 2010, section 3.2.3, table 3.1 with its omissions filled in)."""

from __future__ import annotations

from enum import Enum

from lease_scheduler.model.errors import IllegalTransitionError


class LeaseState(Enum):
    """State of a lease; the value is the word that users see."""

    NEW = "new"
    PENDING = "pending"
    QUEUED = "queued"
    SCHEDULED = "scheduled"
    PREPARING = "preparing"
    READY = "ready"
    ACTIVE = "active"
    SUSPENDING = "suspending"
    SUSPENDED_PENDING = "suspended-pending"
    SUSPENDED_QUEUED = "suspended-queued"
    SUSPENDED_SCHEDULED = "suspended-scheduled"
    MIGRATING = "migrating"
    RESUMING = "resuming"
    RESUMED_READY = "resumed-ready"
    DONE = "done"
    REJECTED = "rejected"
    REJECTED_BY_USER = "rejected-by-user"
    CANCELLED = "cancelled"
    FAILED = "failed"

    # Enum's own __hash__ is slow Python code, and states are keys of dictionaries that are read very often.
    __hash__ = object.__hash__


_S = LeaseState

FINAL_STATES = frozenset({_S.DONE, _S.REJECTED, _S.REJECTED_BY_USER, _S.CANCELLED, _S.FAILED})

#: The lease is suspended: its nodes do not run, and their state is saved.
SUSPENDED_STATES = frozenset({_S.SUSPENDED_PENDING, _S.SUSPENDED_QUEUED, _S.SUSPENDED_SCHEDULED, _S.MIGRATING})

#: The lease waits for a place.
QUEUED_STATES = frozenset({_S.QUEUED, _S.SUSPENDED_QUEUED})

#: The lease has a holding that has not started. Its images may already be on their way.
PLANNED_STATES = frozenset({_S.SCHEDULED, _S.PREPARING, _S.READY, _S.SUSPENDED_SCHEDULED})

_FORWARD: dict[LeaseState, frozenset[LeaseState]] = {
    _S.NEW: frozenset({_S.PENDING}),
    _S.PENDING: frozenset({_S.SCHEDULED, _S.QUEUED, _S.REJECTED, _S.REJECTED_BY_USER}),
    _S.QUEUED: frozenset({_S.SCHEDULED}),
    _S.SCHEDULED: frozenset({_S.PREPARING, _S.READY, _S.QUEUED, _S.PENDING}),
    _S.PREPARING: frozenset({_S.READY, _S.QUEUED, _S.PENDING}),
    _S.READY: frozenset({_S.ACTIVE, _S.QUEUED, _S.PENDING}),
    _S.ACTIVE: frozenset({_S.SUSPENDING, _S.QUEUED, _S.READY, _S.DONE}),
    _S.SUSPENDING: frozenset({_S.SUSPENDED_PENDING}),
    _S.SUSPENDED_PENDING: frozenset({_S.SUSPENDED_QUEUED, _S.SUSPENDED_SCHEDULED}),
    _S.SUSPENDED_QUEUED: frozenset({_S.SUSPENDED_SCHEDULED}),
    _S.SUSPENDED_SCHEDULED: frozenset({_S.SUSPENDED_QUEUED, _S.SUSPENDED_PENDING, _S.MIGRATING, _S.RESUMING}),
    _S.MIGRATING: frozenset({_S.SUSPENDED_SCHEDULED}),
    # A lease that could not be resumed is suspended again.
    _S.RESUMING: frozenset({_S.RESUMED_READY, _S.SUSPENDING}),
    _S.RESUMED_READY: frozenset({_S.ACTIVE}),
}

#: If a host fails, the state saved on it is lost, and the lease starts over (to QUEUED). A project may also end a lease
#: while its state is saved (to DONE). Haizea has neither of these transitions.
_HAS_SAVED_STATE = SUSPENDED_STATES | {_S.SUSPENDING, _S.RESUMING, _S.RESUMED_READY}

#: A project may decline a lease that waits for its answer: one that got a place, and so a price, out of the queue, or
#: one that is held as an offer. Haizea treats the first as a lease that cannot be scheduled, and lacks the second.
_DECLINABLE = frozenset({_S.QUEUED, _S.SCHEDULED, _S.PREPARING, _S.READY})

#: In a cloud that brings images when it boots servers, a lease is ready without its images, but one of them may still
#: be brought ahead of the start. Haizea has no such clouds.
_MAY_GET_IMAGES_AHEAD = frozenset({_S.READY})

_FAILABLE = frozenset(_S) - FINAL_STATES - {_S.NEW, _S.PENDING, _S.QUEUED}

#: State -> the states that may follow it. No state follows a final one.
TRANSITIONS: dict[LeaseState, frozenset[LeaseState]] = {
    state: _FORWARD.get(state, frozenset())
    | (frozenset({_S.CANCELLED}) if state is not _S.NEW and state not in FINAL_STATES else frozenset())
    | (frozenset({_S.FAILED}) if state in _FAILABLE else frozenset())
    | (frozenset({_S.QUEUED, _S.DONE}) if state in _HAS_SAVED_STATE else frozenset())
    | (frozenset({_S.REJECTED_BY_USER}) if state in _DECLINABLE else frozenset())
    | (frozenset({_S.PREPARING}) if state in _MAY_GET_IMAGES_AHEAD else frozenset())
    for state in _S
}


def check_transition(lease_id: str, current: LeaseState, wanted: LeaseState) -> None:
    """Check that the state machine has a transition.

    :raises IllegalTransitionError: the state machine lacks it
    """
    if wanted not in TRANSITIONS[current]:
        raise IllegalTransitionError(lease_id, current.value, wanted.value)
