"""Approval: permission of an approver without which some leases do not start."""

from __future__ import annotations

from enum import Enum

from lease_scheduler.model.states import FINAL_STATES, LeaseState

#: The word that users see in place of the state of a lease that is held until it is approved.
AWAITING_APPROVAL = "awaiting-approval"


class Approval(Enum):
    """State of the approval that a lease needs; the value is the word that users see."""

    AWAITING = "awaiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


def state_in_words(state: str, approval: str | None) -> str:
    """Return the word for the state of a lease that users see.

    The plan treats a lease that awaits approval as an offer, in any state that a planned lease can be in. Users see one
    word for all of these states, ``AWAITING_APPROVAL``.

    :param state: value of a ``LeaseState``
    :param approval: value of an ``Approval``, or None if the lease needs none
    """
    is_waiting = approval == Approval.AWAITING.value and LeaseState(state) not in FINAL_STATES
    return AWAITING_APPROVAL if is_waiting else state
