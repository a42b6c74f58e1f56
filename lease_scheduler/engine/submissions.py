"""Undecided requests, and their order."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class Submission:
    """An undecided request.

    :ivar request: the terms
    :ivar least: smallest acceptable number of nodes of each node set; None means all of them
    :ivar offered_until: latest end of its offer; None if it need not be accepted or approved
    :ivar negotiation: id that offers of one negotiation share, of which the project may accept one
    :ivar approval: ``AWAITING`` if it is held until it is approved, or another state of its approval; None if it needs
        none
    :ivar grant: what is already answered to it
    """

    request: LeaseRequest
    least: tuple[int, ...] | None = None
    offered_until: int | None = None
    negotiation: str | None = None
    approval: Approval | None = None
    grant: Grant = UNANSWERED


@dataclass
class SubmissionOrder:
    """The order of submission. The engines of a site share it, so that each position is given only once.

    :ivar next: position of the next request
    """

    next: int = 0
