"""``MaxLeaseDurationFilter``: limits the duration of a lease (Blazar's filter of this name)."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.requests.enforcement.base import ChangeProposal, FilterOptions, Proposal


class MaxLeaseDurationFilter:
    """Filter with the options ``max_lease_duration``, in seconds, and ``max_lease_duration_exempt_project_ids``.

    A duration of -1 means no limit.

    :raises InvalidValueError: the duration is 0
    """

    follows = False

    def __init__(self, options: FilterOptions) -> None:
        self._most: int = options.values["max_lease_duration"]
        if self._most == 0:
            raise InvalidValueError("enforcement.max_lease_duration", "must be -1 for no limit, or at least 1 s")
        self._exempt = frozenset(options.values["max_lease_duration_exempt_project_ids"])

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Refuse a lease that lasts too long."""
        self._check(proposal.project_id, proposal.request.duration)

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Refuse a lease that would last too long, and longer than before."""
        if change.request.duration > change.current.request.duration:
            self._check(change.current.project_id, change.request.duration)

    def on_end(self, lease: Document) -> None:
        """Do nothing, as this filter keeps no count."""

    def _check(self, project_id: str, duration: int) -> None:
        if self._most < 0 or project_id in self._exempt or duration <= self._most:
            return
        asked = (
            "a lease without a duration has no end" if duration >= UNLIMITED else f"{exactly(duration)} is requested"
        )
        message = f"Lease duration: {asked}, and at most {exactly(self._most)} is allowed"
        raise RefusedError(403, message, "end_date", reason=RefusalReason.LIMIT)
