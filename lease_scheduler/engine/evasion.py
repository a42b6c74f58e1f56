"""Evasion: victims with the preemption mode ``migrate`` continue on other hosts if these have free capacity."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.late_hosts import late_hosts_held
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.exact_placement import hosts_with_room
from lease_scheduler.plan.plan import NotPlannableError


class Evasion:
    """Search for other hosts on which a victim can run to its end.

    The lease moves as soon as such hosts are found. If there are none, it is shelved as planned.

    :param state: state that the parts of the engine share
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state

    def evade(self, now: int) -> None:
        """Move each lease that was preempted since the last call, if other hosts are found for it."""
        state = self._state
        while state.runs.preempted:
            lease = state.lease(state.runs.preempted.pop(0))
            if lease is not None and state.may_evade(lease):
                self._try(lease, now)
                state.publish(now)

    def _try(self, lease: Lease, now: int) -> None:
        state, plan = self._state, self._state.planner.plan
        context = state.planner.context
        assert lease.active_since is not None
        first = lease.holdings[0]
        run_end = lease.active_since + lease.remaining
        deadline = lease.request.deadline
        if deadline is not None and run_end > deadline:
            return
        end = run_end + context.suspension.shutdown_time(lease.request)
        try:
            with late_hosts_held(state, now), plan.tentative():
                plan.put(replace(lease, holdings=()))
                present = PresentHosts.of(lease.request, first.assignment)
                assignment, _ = hosts_with_room(
                    context, lease.request, now, end, now, may_preempt=False, present=present
                )
                run = replace(
                    first,
                    assignment=assignment,
                    start=now,
                    run_start=now,
                    run_end=run_end,
                    end=end,
                    closing=Closing.SHUTDOWN,
                )
                moved = plan.put(replace(lease, holdings=(run,)))
        except NotPlannableError:
            return
        state.recorder.count("evasions")
        state.count_anew(lease, moved, now)
