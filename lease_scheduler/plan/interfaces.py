"""The policies that the planner calls.

These Protocols are the only declaration of their methods. ``lease_scheduler.policy`` has the base classes, which extend
them by name and options, and the policies themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.fitting.shortage import Shortage


@dataclass(frozen=True)
class Room:
    """What stays free on hosts while a lease runs.

    :ivar classes: the resource classes of the site
    :ivar free: what is free of each class throughout the run, shape (classes, hosts)
    :ivar capacity: what the hosts offer, shape (classes, hosts)
    :ivar allocated: allocated share of each host of the site at the start of the run, by its most contended class,
        shape (all hosts,)
    """

    classes: tuple[str, ...]
    free: IntArray
    capacity: IntArray
    allocated: npt.NDArray[np.float64]


def _unknown_room() -> Room:
    """Raise an error, because these hosts were made without a function that computes what stays free."""
    raise RuntimeError("what stays free on these hosts is not known")


@dataclass(frozen=True)
class HostsAt:
    """Hosts as they are for a lease that starts at an instant. All arrays have shape (hosts,).

    :ivar numbers: host numbers, ascending
    :ivar leases: number of leases that hold a part of each host at that instant
    :ivar free: free share of each host's capacity at that instant, mean over its classes, 0 to 1
    :ivar unchanged: seconds until the host's use next changes
    :ivar room: returns what stays free of each class while the lease runs, for the same hosts in the same order. It is
        computed when it is called, as most policies do not need it
    """

    numbers: IntArray
    leases: IntArray
    free: npt.NDArray[np.float64]
    unchanged: IntArray
    room: Callable[[], Room] = _unknown_room


@dataclass(frozen=True)
class Victim:
    """A lease that might be preempted for another one.

    :ivar lease: the lease that would have to make room
    :ivar remaining: seconds that it would have yet to run at that instant
    :ivar overhead: seconds to suspend and resume it; 0 if it would start over instead
    """

    lease: Lease
    remaining: int
    overhead: int


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn of a queued lease to get a place.

    :ivar lease: the lease
    :ivar latest_start: last instant at which it may start; None means that the backfilling options alone decide whether
        it may wait. With the instant of the round it starts at once, or as soon as its disk image or its saved memory
        can have arrived
    :ivar accepts: returns whether the lease may have the place that was found; None accepts every place
    :ivar may_grow: for a lease that takes as many nodes as are free, returns whether it may have the numbers in the
        given terms, at the given place; None lets it have all that are free. It may always have its fewest
    """

    lease: Lease
    latest_start: int | None = None
    accepts: Callable[[Holding], bool] | None = None
    may_grow: Callable[[LeaseRequest, Holding], bool] | None = None

    def allows(self, holding: Holding) -> bool:
        """Return whether the lease may have a place."""
        return self.accepts is None or self.accepts(holding)


@dataclass
class QueueRound:
    """One pass over the queue, as a queueing policy sees it.

    :ivar now: the earliest start that is possible
    :ivar list_queued: returns the queued leases, in the order of submission
    :ivar waiting: the queued leases by id; those that get places leave, some of them only at the end of the round
    :ivar live: all leases in the plan, by id
    :ivar placed: leases that got a place in this round, by id; the planner adds them between two turns
    """

    now: int
    list_queued: Callable[[], Sequence[Lease]]
    waiting: Mapping[str, Lease] = field(default_factory=dict)
    live: Mapping[str, Lease] = field(default_factory=dict)
    placed: dict[str, Lease] = field(default_factory=dict)

    @cached_property
    def queued(self) -> Sequence[Lease]:
        """The queued leases, in the order of submission, as they were when this was first asked for."""
        return self.list_queued()


class HostSelection(Protocol):
    """Decides in which order hosts are filled (haizea F38).

    :cvar sorts_by_keys: whether it is a ``HostsByKeys`` whose order follows from its keys and from nothing else
    """

    sorts_by_keys: ClassVar[bool] = False

    @abstractmethod
    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """Return host numbers (of ``hosts.numbers``), best first. Hosts that are left out are not used."""
        ...


class Mapper(Protocol):
    """Decides how the nodes of a lease are distributed over hosts (haizea F30).

    :cvar fills_in_order: whether it fills each host before it takes the next one. Many leases of one kind that start at
        one instant are then placed at once
    """

    fills_in_order: ClassVar[bool] = False

    @abstractmethod
    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """Return how many nodes each host gets.

        :param places: number of nodes that each host can take, in the order of the host selection policy. Each is at
            least 1, and their sum is at least ``count``
        :param present: number of nodes of the same lease that each of these hosts already has
        :param count: number of nodes to distribute
        :return: number of nodes of each host, at most ``places``; their sum is ``count``. It may be shorter than
            ``places``: the other hosts get no node
        """
        ...


class Preemption(Protocol):
    """Decides which leases may be preempted for a request (haizea F36)."""

    @abstractmethod
    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """Return how suitable a victim is for a lease that is to start at the instant.

        The lease with the highest score is preempted first. A lease with a negative score, such as
        ``policy.preemption.base.NEVER``, is never preempted.
        """
        ...

    def choose(self, preemptor: LeaseRequest, candidates: Sequence[Victim], shortage: Shortage) -> Sequence[Victim]:
        """Return the candidates that may be preempted, in the order in which the planner takes them.

        The planner takes only as many of them as are needed to make room, and none that is left out. So a policy that
        looks for the best set of victims returns that set first. The default is the order of the scores.

        :param candidates: leases with a score of at least 0, highest score first; equal ones in order of submission
        :param shortage: what the request lacks, to be asked during this call only
        """
        return candidates


@dataclass(frozen=True)
class Claim:
    """A queued lease for which running ones may be suspended, because others hold more than their share.

    :ivar turn: its turn: until when it has to start, and whether it may have the place that was found
    :ivar victims: decides which leases may be suspended for it, and in which order
    :ivar is_fair: returns whether these leases may be suspended for it
    """

    turn: Turn
    victims: Preemption
    is_fair: Callable[[Sequence[Lease]], bool]


class Queueing(Protocol):
    """In which order queued leases get places (haizea F46).

    :ivar has_claims: whether ``claims`` may yield any
    """

    has_claims: bool = False

    @abstractmethod
    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """Yield the turns of a pass over the queue. A lease gets at most one place in it.

        The planner tries each turn before it takes the next one, so a generator sees in ``queue.placed`` what became of
        the turns before. It may leave leases out and may yield the same lease again with other limits. The planner may
        end the pass early, when nothing that is queued can fit any more.
        """
        ...

    def claims(self, queue: QueueRound) -> Iterable[Claim]:
        """Yield the leases for which others may be suspended, after the turns of a pass. Most policies have none.

        The planner tries each claim before it takes the next one, and adds what got a place to ``queue.placed``.
        """
        return ()

    def with_queued(self, lease: Lease) -> AbstractContextManager[None]:
        """Serve a lease within the block as if it had been queued last; the policy is afterwards as it was before.

        Called after ``follow``. The default is for policies that know of leases only what ``turns`` tells them.
        """
        return nullcontext()

    def look_again(self, now: int) -> int | None:
        """Return when leases that were left out of this pass may be placed even if nothing else happens, or None.

        Called once after each pass, also after one that ended before all turns were taken, or before ``turns`` was
        called because nothing was queued or could fit. The default is None: a lease that does not fit waits until
        another one gives way.
        """
        return None

    def refusal(self, request: LeaseRequest) -> str | None:
        """Return why a best-effort lease could never start under this policy, whatever others do, or None if it could.

        Called after ``follow``. The default is None.
        """
        return None

    def follow(self, site: Site, weights: Mapping[str, float]) -> None:
        """Take note of the hosts and of the weights of flows. Called before ``turns``, and before outcomes are told.

        :param weights: weight of each flow for which one is set; the mapping is replaced when one changes
        """
        return

    def take_over(self, leases: Sequence[Lease], now: int) -> int | None:
        """Take note of the live leases of a site on which another engine, or another policy, has worked so far.

        Called after ``follow``. The default does nothing.

        :return: what ``look_again`` returned after the last pass, if the policy has stored it
        """
        return None


class ExpectedDuration(Protocol):
    """How long leases are expected to run, which may be shorter than requested.

    Best-effort leases that can be suspended are planned for that time. A lease that then still runs goes on if its
    hosts are free, and is suspended if they are not, so a wrong expectation loses no work. Leases of other kinds are
    planned as requested.

    :ivar shortens: whether leases may be expected to run shorter than requested
    """

    shortens: bool

    @abstractmethod
    def expected(self, lease: Lease) -> int:
        """Return for how many seconds the nodes of a lease are expected to run from now on.

        Values outside of 1 to ``lease.remaining`` count as the nearer of the two.
        """
        ...


class PlannerPolicies(Protocol):
    """The policies that the planner calls, one of each family."""

    @property
    def host_selection(self) -> HostSelection:
        """In which order hosts are filled."""
        ...

    @property
    def preemption(self) -> Preemption:
        """Which leases may be preempted for a request."""
        ...

    @property
    def mapper(self) -> Mapper:
        """How the nodes of a lease are distributed over hosts."""
        ...

    @property
    def queueing(self) -> Queueing:
        """In which order queued leases get places."""
        ...

    @property
    def duration(self) -> ExpectedDuration:
        """How long leases are expected to run."""
        ...
