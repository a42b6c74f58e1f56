"""Bounds on the duration and the lead time of leases, and on offers that a project holds without accepting.

Without bounds, one project can block a whole cloud for years at no cost: by offers that it renews as they expire, by
reservations in distant years, or by a lease without a duration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.durations import exactly
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason

#: Period in seconds, up to now, within which the time of unaccepted offers is summed.
PERIOD = 86_400


@dataclass(frozen=True)
class Bounds:
    """Bounds that an operator sets for every project; -1 means no bound.

    :ivar max_duration: maximum duration of a lease in seconds; a lease without a duration gets this one
    :ivar max_lead_time: seconds from now within which a lease must start; a deadline may be ``max_duration`` later
    :ivar max_held_offers: maximum number of offers that a project holds at the same time
    :ivar max_unaccepted_time: maximum seconds, within ``PERIOD``, for which a project holds offers that it does not
        accept
    :ivar exempt: projects without bounds
    """

    max_duration: int = -1
    max_lead_time: int = -1
    max_held_offers: int = -1
    max_unaccepted_time: int = -1
    exempt: frozenset[str] = frozenset()

    def of_project(self, project_id: str) -> Bounds:
        """Return the bounds of a project."""
        return Bounds() if project_id in self.exempt else self


def with_duration(bounds: Bounds, request: LeaseRequest) -> LeaseRequest:
    """Return the request, with the maximum duration if it has none."""
    if bounds.max_duration < 0 or request.duration < UNLIMITED:
        return request
    return replace(request, duration=bounds.max_duration)


def check_terms(bounds: Bounds, asked: LeaseRequest, before: LeaseRequest | None, now: int) -> None:
    """Refuse a lease that lasts too long or is too far ahead.

    A change is refused only if it exceeds a bound by more than the lease does now.

    :param before: the present terms, None for a new lease
    :raises RefusedError: 403, naming the bound
    """
    most = bounds.max_duration
    if 0 <= most < asked.duration and (before is None or asked.duration > before.duration):
        field = "end_date" if asked.kind is LeaseKind.RESERVATION else "duration"
        raise RefusedError(
            403,
            f"{field}: a lease may last {exactly(most)} at most ([enforcement] max_duration), "
            f"not {exactly(asked.duration)}",
            field,
            reason=RefusalReason.LIMIT,
        )
    furthest = bounds.max_lead_time
    if furthest < 0:
        return
    if _goes_beyond(now + furthest, asked.start, None if before is None else before.start):
        raise RefusedError(
            403,
            f"start_date: a lease must start within {exactly(furthest)} from now ([enforcement] max_lead_time)",
            "start_date",
            reason=RefusalReason.LIMIT,
        )
    latest = now + furthest + max(0, most)
    if most >= 0 and _goes_beyond(latest, asked.deadline, None if before is None else before.deadline):
        raise RefusedError(
            403,
            f"deadline: must be within {exactly(furthest + most)} from now ([enforcement] max_lead_time and "
            "max_duration together)",
            "deadline",
            reason=RefusalReason.LIMIT,
        )


def _goes_beyond(latest: int, asked: int | None, before: int | None) -> bool:
    """Return whether an instant is after the latest one, and also after the previous one if there was one."""
    return asked is not None and asked > latest and (before is None or asked > before)


def check_offers(bounds: Bounds, held: int, unaccepted: int) -> None:
    """Refuse another offer.

    :param held: number of offers that the project holds
    :param unaccepted: seconds within ``PERIOD`` for which it held offers that it did not accept
    :raises RefusedError: 403, naming the bound
    """
    if 0 <= bounds.max_held_offers <= held:
        raise RefusedError(
            403,
            f"the project holds {held} offers, and may hold {bounds.max_held_offers} ([enforcement] max_held_offers); "
            "accept or reject some, or ask without holding",
            reason=RefusalReason.LIMIT,
        )
    if 0 <= bounds.max_unaccepted_time <= unaccepted:
        raise RefusedError(
            403,
            f"the project held offers that it did not accept for {exactly(unaccepted)} in the last "
            f"{PERIOD // 3_600} hours, and may do so for {exactly(bounds.max_unaccepted_time)} "
            "([enforcement] max_unaccepted_time); ask without holding, or create the lease",
            reason=RefusalReason.LIMIT,
        )
