"""The phases of a holding: resumption, run, and suspension or shutdown (Sotomayor 2010, sections 5.2 and 7.1)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Closing, Holding, MigrationRound
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.migration import plan_migrations


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
    """Return the holding that makes the most of ``[start, end)``, or None.

    It begins with a resumption if memory is saved. It ends with the shutdown if the whole remaining duration fits,
    otherwise with a suspension that is over at ``end``.

    :param remaining: seconds that the lease has yet to run
    :param saved_on: host of each node's saved memory, or None if nothing is saved
    :param earliest: when migrations may begin
    :return: None if there is no time to run, or if migrations would not be over in time
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
    """Return the holding with a suspension in place of its end, so that the hosts are free at ``at``.

    :param now: if given, the buffer before ``at`` is shortened if there is not enough time for it from now on
    """
    seconds = context.suspension.suspend_time(request, holding.assignment)
    run_end, end = suspension_until(context, seconds, at, now)
    return replace(holding, run_end=run_end, end=end, closing=Closing.SUSPEND, charged=0)


def suspension_until(context: PlanningContext, seconds: int, at: int, now: int | None = None) -> tuple[int, int]:
    """Return when a suspension begins and ends that is over at ``at``, with the buffer before that.

    :param seconds: how long it takes
    :param now: as for ``cut_by_suspension``
    """
    buffer = context.options.suspend_buffer
    if now is not None:
        buffer = min(buffer, max(0, at - now - seconds))
    return at - buffer - seconds, at - buffer
