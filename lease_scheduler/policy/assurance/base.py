"""The base class of assurance policies (Pucher 2016, section 4.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lease_scheduler.model.durations import exactly, in_words
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import Assured
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.policy.base import Policy, PolicyOptions
from lease_scheduler.prediction.coverage import Coverage

#: Longest lifetime that is promised by default: seconds.
_LONGEST = 7 * 86_400


@dataclass(frozen=True)
class Wanted:
    """A lifetime that is to be promised to a lease for which a place was found.

    :ivar request: the terms of the lease
    :ivar wait: seconds until it starts
    :ivar planned: seconds after its start at which it has to leave its hosts according to the plan; None if it need not
    """

    request: LeaseRequest
    wait: int = 0
    planned: int | None = None

    @property
    def seconds(self) -> int:
        """Requested lifetime: seconds from the start of the lease on."""
        return self.request.assured_seconds

    @property
    def assurance(self) -> float:
        """Requested probability of reaching the lifetime."""
        assert self.request.assurance is not None
        return self.request.assurance


@dataclass(frozen=True)
class Promise:
    """A promise that a policy makes.

    :ivar basis: what it rests on
    :ivar observations: number of observations that it rests on
    """

    basis: Assured
    observations: int = 0


@dataclass(frozen=True)
class Shortfall:
    """Why a lifetime cannot be promised, and which one could be, as a text for people."""

    reason: str


class AssurancePolicy(Policy):
    """Decides whether a preemptible lease is promised to run for some time.

    The engine asks this also for quotes. So a policy must not learn from being asked.

    :param options: what the operator set for policies
    :cvar promises: whether any lifetime is promised
    """

    promises: ClassVar[bool] = True

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._longest = options.integer("assurance_longest", _LONGEST)

    def promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        """Return the promise for a lease that gets a place now, or why there is none.

        Nothing is promised beyond what the plan allows, because such a promise would be known to be false.
        """
        if wanted.seconds > self._longest:
            return Shortfall(f"this site promises at most {exactly(self._longest)}, not {exactly(wanted.seconds)}")
        if wanted.planned is not None and wanted.planned < wanted.seconds:
            return Shortfall(
                f"the lease could run for {in_words(wanted.planned)}; then its hosts are promised to others"
            )
        return self._promise(wanted, now)

    @abstractmethod
    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        """Return the promise of a lifetime that the plan allows, or why there is none."""

    def guest_lifetimes(
        self, assurances: Collection[float], leases: Collection[Lease], now: int, notice: int
    ) -> Callable[[], Mapping[float, Mapping[str, int]]]:
        """Return a function that returns for how long servers without a lease are promised to run.

        Called at intervals while the engine leads, not for quotes, so a policy may begin to learn from it. The function
        may be called in another thread; it returns seconds by probability and host.

        :param assurances: probabilities of reaching the promised lifetimes
        :param leases: the live leases
        :param notice: seconds before a lease starts at which such servers have to leave its hosts
        """
        return dict

    def coverage(self) -> Mapping[str, Coverage]:
        """Return how well the forecasts of the policy held, by their names."""
        return {}

    def pass_to(self, now: int) -> None:
        """Take note that the engine has served until now. Called in each of its steps if the policy ``promises``."""

    def follow(self, site: Site) -> None:
        """Take note of the present hosts. Called before each outcome and each question."""

    def take_over(self, leases: Iterable[Lease], now: int) -> None:
        """Take note of the live leases, because the policy is new or its engine has taken over."""
