"""Approval: leases that start only when somebody whom the operator trusts with that allows it."""

from __future__ import annotations

from enum import Enum

from lease_scheduler.model.states import FINAL_STATES, LeaseState

#: The word that users see in place of the state of a lease that is held until it is approved.
AWAITING_APPROVAL = "awaiting-approval"


class Approval(Enum):
    """What has become of the approval that a lease needs; the value is the word that users see."""

    AWAITING = "awaiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


def state_in_words(state: str, approval: str | None) -> str:
    """Return the word for the state of a lease, with the one for leases that await approval.

    The plan treats such a lease as an offer, which may be in any state that a planned lease can be in. To users, all of
    these are one.

    :param state: value of a ``LeaseState``
    :param approval: value of an ``Approval``, or None if the lease needs none
    """
    is_waiting = approval == Approval.AWAITING.value and LeaseState(state) not in FINAL_STATES
    return AWAITING_APPROVAL if is_waiting else state
