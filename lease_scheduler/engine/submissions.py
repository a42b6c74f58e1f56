"""Requests that have not been decided yet, and their order."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class Submission:
    """A request that has not been decided yet.

    :ivar request: the terms
    :ivar least: for each node set, the smallest acceptable number of VMs; None means all of them
    :ivar offered_until: until when it is held for its project at most; None if it does not have to be accepted
    :ivar negotiation: id that offers of one negotiation share, of which the project may accept one
    :ivar approval: whether it is held until it is approved, or has been approved already; None if it needs no approval
    """

    request: LeaseRequest
    least: tuple[int, ...] | None = None
    offered_until: int | None = None
    negotiation: str | None = None
    approval: Approval | None = None


@dataclass
class SubmissionOrder:
    """The order of submission. The engines of a site share it, so that no position is given twice.

    :ivar next: position of the next request
    """

    next: int = 0
