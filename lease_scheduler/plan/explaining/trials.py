"""Trials: whether a request would be granted now, and which leases would be preempted for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.plan.placing.exact_placement import exact_holding, find_room
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.displacing import make_room

#: Numbers of leases by kind, as (kind, number), in the order of the kinds' names.
Counts = tuple[tuple[str, int], ...]

#: Number of values put into the plan that cost as much as a trial without any.
_PUTS_OF_A_TRIAL = 10


@dataclass(frozen=True)
class Trial:
    """A request that would be granted.

    :ivar place: its first holding
    :ivar preempted: number of leases of each kind that would lose some of what they hold
    """

    place: Holding
    preempted: Counts


class Trials:
    """Asks the planner what it would grant, so that nothing is suggested that it would then refuse.

    After each trial the plan is as it was.

    :param limit: maximum number of trials, after which every request counts as refused; a trial that moves many leases
        counts as several
    """

    def __init__(self, planner: Planner, now: int, limit: int) -> None:
        self._planner = planner
        self._now = now
        self._left = limit
        self._sequence = 1 + max((lease.sequence for lease in planner.plan.leases.values()), default=0)

    @property
    def are_used_up(self) -> bool:
        """Whether the limit is reached."""
        return self._left <= 0

    def of(self, request: LeaseRequest) -> Trial | None:
        """Return the trial of a reservation or deadline lease that would be granted, or None."""
        if self._left <= 0:
            return None
        before = self._planner.plan.puts
        try:
            if request.kind is LeaseKind.RESERVATION and not request.moves_others:
                return self._of_reservation(request)
            return self._of_any(request)
        except NotPlannableError:
            return None
        finally:
            self._left -= 1 + (self._planner.plan.puts - before) // _PUTS_OF_A_TRIAL

    def _of_reservation(self, request: LeaseRequest) -> Trial:
        """Try a reservation. Victims are moved in the plan only if that is needed, as it costs much more."""
        start = request.start
        assert start is not None
        if start < self._now:
            raise NotPlannableError("its start has passed")
        context, plan = self._planner.context, self._planner.plan
        end = start + request.duration + context.suspension.shutdown_time(request)
        with plan.trial():
            room = find_room(context, request, start, end, self._now, may_preempt=True)
            lost: Iterable[Lease] = room.in_the_way
            # Victims may lose nothing: deadline leases that are moved, and leases whose run is over by the start.
            if room.is_made or any(all(r.run_end <= start for r in lease.holdings) for lease in lost):
                if not room.is_made:
                    make_room(context, room.in_the_way, start, end, self._now)
                lost = losing((old, plan.leases[old.lease_id]) for old in room.in_the_way)
            place = exact_holding(context, request, room.assignment, start)
        return Trial(place, kinds_of(lost))

    def _of_any(self, request: LeaseRequest) -> Trial:
        plan = self._planner.plan
        with plan.trial():
            lease = plan.put(Lease(request, self._sequence).to(LeaseState.PENDING))
            lease = self._planner.place(lease, self._now)
            others = plan.changes_in_block()
            lost = losing((old, new) for old, new in others if old is not None and new.lease_id != request.lease_id)
        return Trial(lease.holdings[0], kinds_of(lost))

    def first_granted(
        self, request_at: Callable[[int], LeaseRequest], earliest: int, latest: int
    ) -> tuple[int, Trial] | None:
        """Return an instant at which a request is granted but not one second earlier, or None.

        The steps double, so an instant that is near is found quickly; it is near if leases only need time to leave.

        :param request_at: returns the request that starts at an instant
        :param latest: the last instant to try
        """
        refused, step = earliest, 1
        found = self.of(request_at(earliest))
        if found is not None:
            return earliest, found
        while refused < latest and not self.are_used_up:
            instant = min(earliest + step, latest)
            found = self.of(request_at(instant))
            if found is not None:
                return self._sooner(request_at, refused, instant, found)
            refused, step = instant, step * 2
        return None

    def _sooner(
        self, request_at: Callable[[int], LeaseRequest], refused: int, granted: int, found: Trial
    ) -> tuple[int, Trial]:
        while granted - refused > 1:
            middle = (granted + refused) // 2
            sooner = self.of(request_at(middle))
            if sooner is None:
                refused = middle
            else:
                granted, found = middle, sooner
        return granted, found

    def most(self, request_of: Callable[[int], LeaseRequest], enough: int, bound: int) -> tuple[int, Trial] | None:
        """Return a number for which a request is granted while it is refused for one more, or None.

        :param request_of: returns the request for a number, of nodes or of seconds
        :param enough: a number that is known to be granted; only larger ones are returned
        :param bound: the largest number that might be granted; it is tried first
        """
        if bound <= enough:
            return None
        found = self.of(request_of(bound))
        if found is not None:
            return bound, found
        best: tuple[int, Trial] | None = None
        while bound - enough > 1:
            middle = (enough + bound) // 2
            found = self.of(request_of(middle))
            if found is None:
                bound = middle
            else:
                enough, best = middle, (middle, found)
        return best

    def emptied(self, request: LeaseRequest, start: int) -> Availability:
        """Return the availability without the leases that might be preempted for a request from ``start`` on.

        A request that does not fit even there is refused. One that fits there may still be refused, because leases
        cannot leave in time; only a trial tells.
        """
        return self._planner.plan.without(self.possible_victims(request, start), start)

    def possible_victims(self, request: LeaseRequest, start: int) -> list[Lease]:
        """Return the leases that hold something after ``start`` and might be preempted for a request from then on."""
        plan, preemption = self._planner.plan, self._planner.context.preemption
        # A lease that may be preempted for a long request may be preempted for a short one.
        shortest = replace(request, duration=1)
        found = []
        for lease in plan.leases.values():
            terms = lease.request
            if not terms.may_be_preempted or lease.is_offered:
                continue
            if not lease.holdings or lease.holdings[-1].end <= start:
                continue
            if lease.grant.assured is Assured.PLANNED and start < (lease.assured_until or 0):
                continue
            if preemption.score(shortest, Victim(lease, 1, 0), start) >= 0:
                found.append(lease)
        return found


def losing(changes: Iterable[tuple[Lease, Lease]]) -> list[Lease]:
    """Return the leases, out of pairs of old and new values, that lose some of their planned run or are interrupted."""
    return [old for old, new in changes if loses(old, new)]


def loses(old: Lease, new: Lease) -> bool:
    """Return whether a lease loses some of its planned run or is interrupted."""
    starts_over = old.active_since is not None and new.active_since is None
    return starts_over or len(new.holdings) > len(old.holdings) or _planned_run(new) < _planned_run(old)


def kinds_of(leases: Iterable[Lease]) -> Counts:
    """Return the number of leases of each kind."""
    return tuple(sorted(Counter(lease.kind.value for lease in leases).items()))


def _planned_run(lease: Lease) -> int:
    return sum(r.run_end - r.run_start for r in lease.holdings)
