"""Whether a request has no place only because hosts sleep."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.sleepers import give_back, take_until
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner

#: Id of the lease that is only tried.
_TRIED = "(awake)"


def fits_awake(planner: Planner, request: LeaseRequest, now: int) -> bool:
    """Return whether a request that has no place would have one if all hosts were awake. The plan does not change."""
    plan = planner.plan
    kept = {host: until for host, until in plan.asleep.items() if until > now}
    if not kept:
        return False
    give_back(plan, kept, now)
    try:
        with plan.trial():
            lease = plan.put(Lease(replace(request, lease_id=_TRIED), -1).to(LeaseState.PENDING))
            planner.place(lease, now)
    except NotPlannableError:
        return False
    finally:
        take_until(plan, kept, now)
    return True
