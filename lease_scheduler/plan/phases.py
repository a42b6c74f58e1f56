"""From hosts and an interval to a reservation with its phases (Sotomayor 2010, sections 5.2 and 7.1)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Closing, Holding, MigrationRound
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.migration import plan_migrations


def build_holding(
    context: PlanningContext,
    request: LeaseRequest,
    assignment: tuple[int, ...],
    start: int,
    end: int,
    remaining: int,
    saved_on: tuple[int, ...] | None,
    earliest: int,
) -> Holding | None:
    """The reservation that makes the most of ``[start, end)``.

    It begins with a resumption if memory is saved, and ends with the shutdown if the whole remaining duration fits,
    otherwise with a suspension that is over at ``end``.

    :param remaining: seconds of run that are left
    :param saved_on: where each VM's memory is, none if there is none
    :param earliest: when its migration may begin
    :return: none if nothing useful fits: no run at all, or migrations that would not be over in time
    """
    suspension = context.suspension
    run_start = start
    migrations: tuple[MigrationRound, ...] = ()
    if saved_on is not None:
        run_start += suspension.resume_time(request, assignment)
        migrations = plan_migrations(request, saved_on, assignment, earliest, context.options)
        if migrations and migrations[-1].end > start:
            return None
    done = run_start + remaining
    closed = done + suspension.shutdown_time(request)
    if closed <= end:
        return Holding(assignment, start, run_start, done, closed, Closing.SHUTDOWN, migrations)
    end -= context.options.suspend_buffer
    run_end = end - suspension.suspend_time(request, assignment)
    if run_end <= run_start or run_end >= done:
        return None
    return Holding(assignment, start, run_start, run_end, end, Closing.SUSPEND, migrations)


def cut_by_suspension(
    context: PlanningContext, request: LeaseRequest, holding: Holding, at: int, now: int | None = None
) -> Holding:
    """The reservation with a suspension in place of its end, so that the hosts are free at ``at``.

    :param now: at short notice the buffer ahead of ``at`` is as long as there is time for from now on; none to insist
    """
    seconds = context.suspension.suspend_time(request, holding.assignment)
    buffer = context.options.suspend_buffer
    if now is not None:
        buffer = min(buffer, max(0, at - now - seconds))
    end = at - buffer
    return replace(holding, run_end=end - seconds, end=end, closing=Closing.SUSPEND, charged=0)
