"""``QuotaFilter``: limits the live leases of a project, their node-hours, durations and distance in time."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.requests.enforcement.base import ChangeProposal, FilterOptions, LiveLeases, Proposal
from lease_scheduler.service.requests.enforcement.counting import HOUR, hours, latest_end, node_seconds
from lease_scheduler.service.requests.enforcement.limits import (
    NAMES,
    Limits,
    LimitSource,
    configured_limits,
    parse_project_limits,
    unified_limits,
)


class QuotaFilter:
    """Filter with limits from the configuration (``limit_...``, ``project_limits``) or from Keystone.

    :raises InvalidValueError: ``project_limits`` is malformed
    """

    follows = False

    def __init__(self, options: FilterOptions) -> None:
        defaults = Limits(**{name: options.values[f"limit_{name}"] for name in NAMES})
        # Parsed even if Keystone's limits apply, so that a mistake is found at once.
        projects = parse_project_limits(options.values["project_limits"], defaults)
        self._limits_of: LimitSource = (
            configured_limits(defaults, projects)
            if options.unified_limits is None
            else unified_limits(options.unified_limits)
        )

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Refuse a lease that exceeds a limit."""
        check(self._limits_of(proposal.project_id), proposal.request, None, proposal.live, proposal.now)

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Refuse a change that exceeds a limit by more than the lease does now."""
        current = change.current
        check(self._limits_of(current.project_id), change.request, current.request, current.live, current.now)

    def on_end(self, lease: Document) -> None:
        """Do nothing, as live leases are counted at each check."""


def check(limits: Limits, asked: LeaseRequest, before: LeaseRequest | None, others: LiveLeases, now: int) -> None:
    """Refuse a lease that exceeds a limit.

    A change is compared only with the limits of which it uses more than before. So a lease that exceeds a lowered limit
    can still shrink.

    :param before: its present terms, None for a new lease
    :param others: the other live leases of its project
    :raises RefusedError: 403, names the limit, what is used and what is requested
    """
    if before is None:
        _compare("leases", limits.leases, len(others), 1)
    seconds = node_seconds(asked)
    if before is None or seconds > node_seconds(before):
        used = sum(node_seconds(lease.request) for lease, _ in others)
        # Round the sum once, as rounding each lease up would count too much.
        _compare("node_hours", limits.node_hours, used // HOUR, hours(used + seconds) - used // HOUR)
    if before is None or asked.duration > before.duration:
        _compare("duration_hours", limits.duration_hours, 0, hours(asked.duration), "end_date")
    end = latest_end(asked, now)
    if end is not None and (before is None or end > (latest_end(before, now) or 0)):
        _compare("horizon_hours", limits.horizon_hours, 0, hours(end - now), "end_date")
    if asked.kind is LeaseKind.RESERVATION and asked.start is not None:
        lead = asked.start - now
        moved = before is None or asked.start != before.start
        if moved and lead < 60 * limits.lead_time_minutes:
            raise RefusedError(
                403,
                f"Quota lead_time_minutes: a reservation must be requested {limits.lead_time_minutes} minutes before "
                f"its start, this one would start in {max(lead, 0) // 60}",
                "start_date",
                reason=RefusalReason.QUOTA,
            )


def _compare(name: str, limit: int, used: int, asked: int, field: str | None = None) -> None:
    if limit >= 0 and used + asked > limit:
        message = f"Quota exceeded for {name}: limit {limit}, used {used}, requested {asked}"
        raise RefusedError(403, message, field, reason=RefusalReason.QUOTA)
