"""What power policies decide, and what they see of a site."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lease_scheduler.model.host import Site
from lease_scheduler.policy.base import Policy, PolicyOptions
from lease_scheduler.policy.duration.counted import CountedDurations


@dataclass(frozen=True, slots=True)
class Waiting:
    """A best-effort lease that does not run: it has not started, or is suspended.

    :ivar nodes: number of its nodes
    :ivar waited: seconds for which it has waited so far
    :ivar duration: seconds that it is expected to run yet, as far as they count; see ``duration.counted``
    """

    nodes: int
    waited: int
    duration: int


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a reservation lacks on the hosts that are awake.

    :ivar nodes: number of nodes that are asked for
    :ivar missing: nodes that do not fit there
    :ivar after_preemption: nodes that would not fit there even if all best-effort leases were preempted
    """

    nodes: int
    missing: int
    after_preemption: int


@dataclass(frozen=True, slots=True)
class PowerDecision:
    """Numbers of hosts to wake or to empty.

    :ivar wake: number of nodes that may be placed on sleeping hosts, or of hosts to wake for leases that wait
    :ivar empty: number of hosts to empty, so that they can sleep
    """

    wake: int = 0
    empty: int = 0


class PowerView:
    """The site as a power policy sees it. Each property is computed when it is first read.

    :param waiting: returns the best-effort leases that do not run
    :param load: returns the share of their time for which hosts that are awake are taken (equation 6.5): the
        node-seconds that leases have yet to run, over the sum of the seconds until the last lease of each host ends
    """

    def __init__(self, waiting: Callable[[], Sequence[Waiting]], load: Callable[[], float]) -> None:
        self._waiting = waiting
        self._load = load

    @cached_property
    def waiting(self) -> Sequence[Waiting]:
        """Best-effort leases that do not run."""
        return self._waiting()

    @cached_property
    def load(self) -> float:
        """Load of the hosts that are awake, 0 to 1; 1 if none is."""
        return self._load()

    @cached_property
    def longest_waiting(self) -> Waiting | None:
        """The lease that has waited longest, or None."""
        return max(self.waiting, key=lambda each: each.waited, default=None)

    def risk(self, factor: float) -> float:
        """Return how near waiting leases are to waiting too long: 1 at the longest acceptable time (equation 6.2).

        :param factor: longest acceptable waiting time, as a multiple of the mean duration
        """
        durations = sum(each.nodes * each.duration for each in self.waiting)
        return sum(each.nodes * each.waited for each in self.waiting) / (factor * durations) if durations else 0.0


class PowerPolicy(Policy):
    """Decides how many hosts sleep. Namespace of entry points: ``lease_scheduler.policy.power``.

    A host sleeps by itself once nothing is planned on it, if the policy ``manages``. What a policy decides never causes
    a refusal: a reservation that has no place without more hosts gets them.

    :cvar manages: whether hosts without leases go to sleep. If so, best-effort leases are planned only on hosts that
        are awake, so that the policy decides when more hosts wake for them
    """

    manages: bool = True

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        #: For how long leases count in what the policy sees.
        self.durations = CountedDurations.of(options)

    def spare_hosts(self, now: int) -> int | None:
        """Return how many hosts without leases to keep awake, or None for as many as the operator has set."""
        return None

    def wake_time(self) -> int:
        """Return the seconds that hosts should be expected to take to wake; 0 for what the operator has set."""
        return 0

    def woke(self, seconds: int) -> None:
        """Learn how long a host took to wake."""

    def follow(self, site: Site) -> None:
        """Take note of the present hosts. Called before outcomes, and before hosts are put to sleep."""

    @abstractmethod
    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Decide what to do for a reservation that does not fit on the hosts that are awake."""

    @abstractmethod
    def for_queue(self, view: PowerView) -> PowerDecision:
        """Decide, at intervals, what to do for the leases that wait."""
