"""Promises to the cloud of how long servers without a lease may run on each host."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.upkeep.announcer import coming

LOG = logging.getLogger(__name__)

#: Real seconds between two checks.
_INTERVAL = 60.0
#: Seconds for which a promise to the cloud is valid. It is repeated after half of them.
VALID = 900
#: Seconds after which lifetimes are computed again from past observations.
_LEARN = 3_600

#: By probability, the default first: host -> seconds.
Lifetimes = Mapping[float, Mapping[str, int]]


class Promising(Protocol):
    """The part of the engines of a site that is needed here."""

    @property
    def site(self) -> Site:
        """All hosts by their numbers."""
        ...

    def live_leases(self) -> list[Lease]:
        """Return the live leases."""
        ...

    def guest_lifetimes(self, assurances: Collection[float]) -> Callable[[], Lifetimes]:
        """Return a function that returns for how long servers without a lease can be promised to run."""
        ...


def within_plan(lifetimes: Lifetimes, starts: Mapping[str, int], until: int) -> dict[float, dict[str, int]]:
    """Return the lifetimes, shortened to the next planned start of a lease on each host.

    The time until a start is rounded down to a multiple of ``VALID``, so that promises change seldom.

    :param starts: host -> instant of the next planned start there
    :param until: last instant at which a server may start with this promise
    """
    found: dict[float, dict[str, int]] = {}
    for assurance, of_hosts in lifetimes.items():
        found[assurance] = {}
        for host, seconds in of_hosts.items():
            planned = (starts.get(host, FOREVER) - until) // VALID * VALID
            if min(seconds, planned) > 0:
                found[assurance][host] = min(seconds, planned)
    return found


class GuestPromises(UpkeepWorker):
    """Worker that tells the cloud what servers without a lease are promised, before the last message is out of date.

    :param engine: returns the engine of the site
    :param lock: held while the engine is asked
    :param now: returns the present instant
    :param tell: passes lifetimes to the cloud, with the instant from which on they are out of date
    :param assurances: returns the probabilities for which lifetimes are promised, the default first; without any when
        the engine starts, nothing is promised
    :param notice: seconds before the start of a lease at which servers have to leave its hosts
    """

    def __init__(
        self,
        engine: Callable[[], Promising],
        lock: AbstractContextManager[object],
        now: Callable[[], int],
        tell: Callable[[Lifetimes, int], None],
        assurances: Callable[[], Sequence[float]],
        notice: int = 0,
    ) -> None:
        super().__init__("guest-promises", _INTERVAL, first=_INTERVAL)
        self._engine = engine
        self._lock = lock
        self._now = now
        self._tell = tell
        self._assurances = assurances
        self._notice = notice
        self._past: tuple[int, tuple[float, ...], Lifetimes] | None = None
        self._told: tuple[int, Lifetimes] | None = None

    def prepare(self) -> bool:
        """Return whether anything is promised."""
        return bool(self._assurances())

    def round(self, now: float) -> float:
        """See ``tell_again``."""
        self.tell_again()
        return _INTERVAL

    def failed(self, error: Exception) -> None:
        """See ``UpkeepWorker``."""
        LOG.error("the cloud could not be told what servers without a lease are promised", exc_info=error)

    def tell_again(self) -> None:
        """Tell the cloud what is promised now, if that has changed or the last message is soon out of date."""
        with self._lock:
            now, engine = self._now(), self._engine()
            assurances = tuple(self._assurances())
            is_old = self._past is None or not 0 <= now - self._past[0] < _LEARN or self._past[1] != assurances
            ask = engine.guest_lifetimes(assurances) if is_old else None
            leases, site = engine.live_leases(), engine.site
        if ask is not None:
            # Without the lock, as this takes some time on a large site.
            self._past = now, assurances, ask()
        assert self._past is not None
        until = now + VALID
        promised = within_plan(self._past[2], self._next_starts(leases, site, now), until)
        told = self._told
        if told is None or told[1] != promised or now >= told[0] - VALID // 2 or told[0] > until:
            self._tell(promised, until)
            self._told = until, promised

    def _next_starts(self, leases: Iterable[Lease], site: Site, now: int) -> dict[str, int]:
        return {host: start - self._notice for host, start in coming(leases, site, now, FOREVER).items()}
