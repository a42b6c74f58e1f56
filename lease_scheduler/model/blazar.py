"""Leases in the words of Blazar."""

from __future__ import annotations

from lease_scheduler.model.states import LeaseState

_S = LeaseState

#: Blazar's word for the status of a lease -> our states. A lease whose start or end is being carried out is told apart
#: by its operation, see ``lease_status``.
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

#: Words for a lease in one of two states while the cloud is at work.
_IN_OPERATION = {("PENDING", "start"): "STARTING", ("ACTIVE", "stop"): "TERMINATING"}

_STATUS = {state: status for status, states in _STATES.items() for state in states}


def lease_status(state: str, operation: str | None) -> str:
    """Blazar's word for where a lease is.

    :param state: value of a ``LeaseState``
    :param operation: what the cloud is doing for it, none if nothing
    """
    status = _STATUS[LeaseState(state)]
    return status if operation is None else _IN_OPERATION.get((status, operation), status)


def states_of(status: str) -> frozenset[LeaseState]:
    """The states that a word of Blazar stands for; STARTING and TERMINATING have those from which they come."""
    source = {"STARTING": "PENDING", "TERMINATING": "ACTIVE"}.get(status, status)
    return _STATES.get(source, frozenset())
