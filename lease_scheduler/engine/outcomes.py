"""Outcomes of leases, which policies learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import Assured
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import QUEUED_STATES, LeaseState
from lease_scheduler.plan.preempting.preemption import is_preempted
from lease_scheduler.policy.base import Policy
from lease_scheduler.policy.outcomes import Outcome

_ENDS = {
    LeaseState.DONE: Outcome.DONE,
    LeaseState.CANCELLED: Outcome.CANCELLED,
    LeaseState.REJECTED: Outcome.REFUSED,
    LeaseState.REJECTED_BY_USER: Outcome.DECLINED,
    LeaseState.FAILED: Outcome.FAILED,
}


class Outcomes:
    """Distributor of outcomes to the policies that observe them.

    :param policies: returns the present policies
    :param brief: called first, so that the policies know the present hosts
    """

    def __init__(self, policies: Callable[[], Iterable[Policy]], brief: Callable[[], None] = lambda: None) -> None:
        self._brief = brief
        self._policies = policies

    def tell(self, changes: Sequence[tuple[Lease | None, Lease]], now: int) -> None:
        """Tell the policies the outcomes that follow from changes of leases.

        :param changes: (value before the change or None, value after it), in the order of the changes
        """
        observers = [policy for policy in self._policies() if policy.observes]
        if not observers:
            return
        self._brief()
        for before, after in changes:
            for outcome in outcomes_of(before, after):
                for policy in observers:
                    policy.observe(outcome, after, before, now)


def outcomes_of(before: Lease | None, after: Lease) -> list[Outcome]:
    """Return the outcomes that follow from a change of a lease, in the order in which they happen."""
    found: list[Outcome] = []
    was_active, was_started = (None, None) if before is None else (before.active_since, before.started)
    # It may have started for the first time, and ended or lost its place, at the same instant.
    has_started = after.started != was_started
    if after.grant.assured is Assured.BROKEN and (before is None or before.grant.assured is not Assured.BROKEN):
        found.append(Outcome.BROKEN)
    if after.is_final:
        return [*([Outcome.STARTED] if has_started else []), *found, _ENDS[after.state]]
    is_cut = before is not None and is_preempted(before, after) and not _ends_as_planned(before, after)
    held = () if before is None else before.holdings
    if not is_cut and any(holding not in held for holding in after.holdings):
        found.append(Outcome.PLACED)
    if has_started or (after.active_since is not None and was_active is None):
        found.append(Outcome.STARTED)
    if is_cut:
        found.append(Outcome.PREEMPTED)
    if after.state in QUEUED_STATES:
        if before is None or before.state not in QUEUED_STATES:
            found.append(Outcome.QUEUED)
        elif before.request is not after.request:
            found.append(Outcome.CHANGED)
    return found


def _ends_as_planned(before: Lease, after: Lease) -> bool:
    """Return whether a change is only the end of a holding whose preemption was planned before."""
    return before.holdings[0].closing is not Closing.SHUTDOWN and after.holdings == before.holdings[1:]
