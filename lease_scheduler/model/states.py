"""The lease state machine (haizea F15; Sotomayor 2010, section 3.2.3, table 3.1 as repaired in the docs)."""

from __future__ import annotations

from enum import Enum

from lease_scheduler.model.errors import IllegalTransitionError


class LeaseState(Enum):
    """Where a lease is in its life; the value is the word that users see."""

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

    # Enum hashes by name through Python code; states are keys in hot dictionaries.
    __hash__ = object.__hash__


_S = LeaseState

FINAL_STATES = frozenset({_S.DONE, _S.REJECTED, _S.REJECTED_BY_USER, _S.CANCELLED, _S.FAILED})

#: The saved state of the lease's VMs exists somewhere, or is being written or read.
SUSPENDED_STATES = frozenset({_S.SUSPENDED_PENDING, _S.SUSPENDED_QUEUED, _S.SUSPENDED_SCHEDULED, _S.MIGRATING})

#: A reservation exists and nothing of it has begun; at most its images are on their way.
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
    # What could not be brought back is put away again.
    _S.RESUMING: frozenset({_S.RESUMED_READY, _S.SUSPENDING}),
    _S.RESUMED_READY: frozenset({_S.ACTIVE}),
}

#: A host that dies takes the state saved on it along; the lease then starts over. And a consumer may end a lease whose
#: state is saved. Haizea had neither; these rows are ours.
_HAS_SAVED_STATE = SUSPENDED_STATES | {_S.SUSPENDING, _S.RESUMING, _S.RESUMED_READY}

#: A consumer may turn down what waits for his word: a lease that got its place out of the queue, and so its price, or
#: one that was held for him. The program has the first as a lease that is not schedulable; these rows are ours.
_MAY_BE_TURNED_DOWN = frozenset({_S.QUEUED, _S.SCHEDULED, _S.PREPARING, _S.READY})

#: Where booting brings images, a lease could begin without its own; one of its images is brought ahead all the same.
#: Haizea had no such clouds; this row is ours.
_MAY_GET_IMAGES_AHEAD = frozenset({_S.READY})

_FAILABLE = frozenset(_S) - FINAL_STATES - {_S.NEW, _S.PENDING, _S.QUEUED}

#: State -> the states that may follow it. Final states have no followers.
TRANSITIONS: dict[LeaseState, frozenset[LeaseState]] = {
    state: _FORWARD.get(state, frozenset())
    | (frozenset({_S.CANCELLED}) if state is not _S.NEW and state not in FINAL_STATES else frozenset())
    | (frozenset({_S.FAILED}) if state in _FAILABLE else frozenset())
    | (frozenset({_S.QUEUED, _S.DONE}) if state in _HAS_SAVED_STATE else frozenset())
    | (frozenset({_S.REJECTED_BY_USER}) if state in _MAY_BE_TURNED_DOWN else frozenset())
    | (frozenset({_S.PREPARING}) if state in _MAY_GET_IMAGES_AHEAD else frozenset())
    for state in _S
}


def check_transition(lease_id: str, current: LeaseState, wanted: LeaseState) -> None:
    """Refuse a transition that the state machine does not have.

    :raises IllegalTransitionError: naming the lease and both states
    """
    if wanted not in TRANSITIONS[current]:
        raise IllegalTransitionError(lease_id, current.value, wanted.value)
