"""Alternatives for a request that is refused: the nearest terms that would be granted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.explaining.trials import Counts, Trial, Trials
from lease_scheduler.plan.fitting.earliest_fit import place_whole
from lease_scheduler.plan.fitting.exact_mapping import Attempts
from lease_scheduler.plan.fitting.host_fit import Anywhere, last_again, latest_end, starts_on
from lease_scheduler.plan.placing.exact_placement import place_exactly
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner

#: Maximum number of trials for one request. Each costs about as much as the refused request did.
_TRIALS = 100
#: How many of the instants at which hosts become free are tried, and how many seconds after each of them, as leases
#: need time to leave.
_OPENINGS = 4
_LONGEST_NOTICE = 3_600


def nodes_in_words(count: int) -> str:
    """Return a number of nodes as a text for people."""
    return "1 node" if count == 1 else f"{count} nodes"


@dataclass(frozen=True)
class Alternative:
    """Terms that would be granted at present.

    :ivar change: the term that differs: ``start``, ``nodes`` or ``duration``
    :ivar start: instant of the start
    :ivar nodes: number of nodes
    :ivar duration: seconds
    :ivar preempted: number of leases of each kind that would be preempted; empty if none would
    """

    change: str
    start: int
    nodes: int
    duration: int
    preempted: Counts = ()

    def in_words(self, start: int) -> str:
        """Return the difference as a text for people.

        :param start: instant of the requested start
        """
        if self.change == "start":
            words = f"the same terms {in_words(self.start - start, up=True)} later"
        else:
            words = nodes_in_words(self.nodes) if self.change == "nodes" else in_words(self.duration)
        if not self.preempted:
            return words
        preempted = " and ".join(f"{count} {kind}" for kind, count in self.preempted)
        return f"{words} (preempting {preempted})"


@dataclass(frozen=True)
class Flexibility:
    """How far from its requested terms a project accepts alternatives (haizea F8); None means without limit.

    :ivar latest_start: instant
    :ivar fewest_nodes: number of nodes
    :ivar shortest_duration: seconds
    """

    latest_start: int | None = None
    fewest_nodes: int | None = None
    shortest_duration: int | None = None

    def allows(self, alternative: Alternative) -> bool:
        """Return whether an alternative is within the limits."""
        return (
            (self.latest_start is None or alternative.start <= self.latest_start)
            and (self.fewest_nodes is None or alternative.nodes >= self.fewest_nodes)
            and (self.shortest_duration is None or alternative.duration >= self.shortest_duration)
        )


class Advice:
    """Finds the nearest terms that would be granted, with and without preemption.

    Terms that need preemption come first. They are left out if they are not nearer to the requested terms than those
    without preemption.

    :param start: instant of the requested start, not before ``now``
    :param may_preempt: whether alternatives may preempt other leases, if the kind of the lease may preempt at all
    """

    def __init__(self, planner: Planner, request: LeaseRequest, start: int, now: int, *, may_preempt: bool) -> None:
        self._context = planner.context
        self._request = request
        self._start = start
        self._now = now
        self._trials = Trials(planner, now, _TRIALS)
        self._may_preempt = may_preempt and request.kind is not LeaseKind.IMMEDIATE
        self._shutdown = self._context.suspension.shutdown_time(request)
        self._length = request.duration + self._shutdown
        self._demands = self._context.plan.demands(request)
        self._emptied: Availability | None = None

    def all(self) -> tuple[Alternative, ...]:
        """Return the nearest alternatives: a later start, fewer nodes, and a shorter duration."""
        return (*self.later(), *self.fewer(), *self.shorter())

    def later(self) -> tuple[Alternative, ...]:
        """Return the same terms at the earliest later start.

        The deadline of a deadline lease moves with the start, so preemption is not needed.
        """
        free = self._free_start()
        # Leases without an end last 100 years; hosts that become free only after them never do.
        latest = self._now + UNLIMITED if free is None else min(free, self._now + UNLIMITED)
        found = []
        preempting = self._preempting_start(latest)
        if preempting is not None:
            found.append(self._alternative("start", start=preempting[0], preempted=preempting[1].preempted))
        if free is not None and free < self._now + UNLIMITED:
            found.append(self._alternative("start", start=free))
        return _needed(found)

    def fewer(self) -> tuple[Alternative, ...]:
        """Return the largest number of nodes, if the lease has a single node set."""
        if len(self._request.nodes) != 1:
            return ()
        bound = min(self._request.node_count - 1, self._most_throughout(self._context.plan.availability))
        free, free_start = self._most_free(bound)
        found = []
        if self._may_preempt:
            bound = min(self._request.node_count - 1, self._most_throughout(self._without_victims()))
            most = self._trials.most(self._with_count, free, bound)
            if most is not None:
                nodes, trial = most
                start = self._start_of(trial.place)
                found.append(self._alternative("nodes", start=start, nodes=nodes, preempted=trial.preempted))
        if free:
            found.append(self._alternative("nodes", start=free_start, nodes=free))
        return _needed(found)

    def shorter(self) -> tuple[Alternative, ...]:
        """Return the longest duration from the start on. For deadline leases, preemption is not considered."""
        free = 0
        fitting = Anywhere(self._context, self._request, attempts=Attempts()).fit(self._start, 1, self._length)
        if fitting is not None:
            free = max(0, fitting[1] - self._start - self._shutdown)
        if free >= self._request.duration:
            return ()
        found = []
        if self._may_preempt and self._request.kind is LeaseKind.RESERVATION:
            until = latest_end(self._without_victims(), self._demands, self._start)
            bound = min(until - self._start - self._shutdown, self._request.duration - 1)
            longest = self._trials.most(self._lasting, free, bound)
            if longest is not None:
                found.append(self._alternative("duration", duration=longest[0], preempted=longest[1].preempted))
        if free:
            found.append(self._alternative("duration", duration=free))
        return _needed(found)

    def _preempting_start(self, latest: int) -> tuple[int, Trial] | None:
        """Return the earliest start before ``latest`` at which the lease fits by preempting others, or None."""
        if not self._may_preempt or self._request.kind is not LeaseKind.RESERVATION:
            return None
        for instant in starts_on(self._without_victims(), self._demands, self._start, self._length)[:_OPENINGS]:
            first = int(instant)
            if first >= latest:
                return None
            if first > self._start and not self._may_fit(first):
                continue
            granted = self._trials.first_granted(self._starting, first, min(latest - 1, first + _LONGEST_NOTICE))
            if granted is not None:
                return granted
        return None

    def _may_fit(self, start: int) -> bool:
        """Return whether the lease fits at a later start if all possible victims leave; these may differ by start."""
        might = self._trials.possible_victims(self._starting(start), start)
        if might == [lease for lease in self._victims if lease.holdings[-1].end > start]:
            # The openings were computed without exactly these leases, so it fits.
            return True
        availability = self._context.plan.without(might, start)
        return latest_end(availability, self._demands, start) - start >= self._length

    # -- what is free without preemption ---------------------------------------------------------------------

    def _free_start(self) -> int | None:
        attempts = Attempts()
        anywhere = Anywhere(self._context, self._request, attempts=attempts)
        starts = anywhere.starts(self._start, self._length).tolist()
        for start, fitting in last_again(((start, anywhere) for start in starts), attempts):
            if fitting.fit(start, self._length, self._length) is not None:
                return start
        return None

    def _most_free(self, bound: int) -> tuple[int, int]:
        """Return how many nodes fit, at most the bound, and when they start."""
        best, start = 0, self._start
        too_many, tried = bound + 1, bound
        while tried > best:
            place = self._free_place(self._with_count(tried))
            if place is None:
                too_many = tried
            else:
                best, start = tried, self._start_of(place)
            tried = (best + too_many) // 2
        return best, start

    def _free_place(self, request: LeaseRequest) -> Holding | None:
        if request.deadline is not None:
            return place_whole(self._context, request, request.duration, None, self._start, request.deadline)
        try:
            return place_exactly(self._context, request, self._start, self._now, may_preempt=False)[0]
        except NotPlannableError:
            return None

    # -- bounds ----------------------------------------------------------------------------------------------

    def _without_victims(self) -> Availability:
        if self._emptied is None:
            self._emptied = self._context.plan.without(self._victims, self._start)
        return self._emptied

    @cached_property
    def _victims(self) -> list[Lease]:
        return self._trials.possible_victims(self._request, self._start)

    def _most_throughout(self, availability: Availability) -> int:
        """Return how many nodes fit in the requested interval; for a deadline lease, on the empty site."""
        (demand,) = self._demands
        if self._request.deadline is not None:
            availability = Availability(availability.capacity, availability.classes)
        places = availability.places(demand.amounts, demand.eligible, demand.per_host)
        return places.throughout(self._start, self._start + self._length)

    # -- terms -----------------------------------------------------------------------------------------------

    def _starting(self, start: int) -> LeaseRequest:
        return replace(self._request, start=start)

    def _with_count(self, count: int) -> LeaseRequest:
        return replace(self._request, nodes=(self._request.nodes[0].with_count(count),))

    def _lasting(self, duration: int) -> LeaseRequest:
        return replace(self._request, duration=duration)

    def _start_of(self, place: Holding) -> int:
        return self._start if self._request.deadline is None else place.run_start

    def _alternative(
        self,
        change: str,
        *,
        start: int | None = None,
        nodes: int | None = None,
        duration: int | None = None,
        preempted: Counts = (),
    ) -> Alternative:
        request = self._request
        return Alternative(
            change,
            self._start if start is None else start,
            request.node_count if nodes is None else nodes,
            request.duration if duration is None else duration,
            preempted,
        )


def _needed(found: list[Alternative]) -> tuple[Alternative, ...]:
    """Return the alternatives worth showing: only the nearest one if it preempts nothing."""
    return tuple(found if found and found[0].preempted else found[:1])
