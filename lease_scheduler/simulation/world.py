"""Several sites on one clock, and requests that a router or a party such as a gateway distributes to them."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.explaining.quote import Quote
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.site_run import SiteRun, Watcher, earlier
from lease_scheduler.simulation.workload import Workload


class RoutableSite(Protocol):
    """The part of a site that routers may use. None of these methods changes the site."""

    def view(self) -> SiteView:
        """Return the present state: leases, queue, capacity, and what of it is used."""

    def quote(self, request: LeaseRequest) -> Quote:
        """Return what would become of a request if it were submitted now."""


class Router(Protocol):
    """A function that chooses a site for each request."""

    def __call__(self, request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        """Return the name of the site that gets the request; None refuses the request.

        :param request: the terms
        :param sites: all sites by name, as they are when all of them have done what is due at this instant, which
            includes deciding on the requests that were routed before
        """


class Party(Protocol):
    """What acts on sites from outside at instants of its own, such as the gateways of a Grid."""

    def next_instant(self) -> int | None:
        """Return the instant at which it acts next, or None if it does nothing more unless a site makes it."""

    def act(self) -> None:
        """Do one of the things that are due. All sites have done what is due at this instant."""


@dataclass(frozen=True)
class Arrivals:
    """Requests that arrive at the world, not at one of its sites.

    :ivar workload: the requests; its own site is ignored
    :ivar router: chooses a site for each of them, one after the other
    """

    workload: Workload
    router: Router


@dataclass(frozen=True)
class WorldResult:
    """A completed simulation of a world.

    :ivar sites: the result of each site, by name. ``wall_s`` and ``peak_rss_bytes`` are those of the whole world.
    :ivar destinations: lease id -> name of the site that got the request, in the order of arrival
    :ivar refused: ids of the requests that the router refused, in the order of arrival
    """

    sites: Mapping[str, RunResult]
    destinations: Mapping[str, str]
    refused: tuple[str, ...]


class World:
    """Sites that share a clock.

    The clock jumps to the earliest instant at which something is due at a site, or at which a request arrives. At each
    instant

    #. each site where something is due takes a step, in the order of the sites. This is repeated as long as the step of
       one site makes something due at another one;
    #. then one arriving request is routed, and its site takes a step. This is repeated for each request of the instant.
       After all of them the party does one thing that is due, which is repeated in the same way.

    :param sites: the sites by name, in the order in which they take their steps
    :param arrivals: requests for a router to distribute; None if each site has only its own workload
    :param party: what else acts on the sites; None if nothing does
    :raises InvalidValueError: there is no site, the sites have different clocks, a site that requests are routed to
        is not open-ended, or two leases have the same id and could meet at a site
    """

    def __init__(
        self, sites: Mapping[str, SiteRun], arrivals: Arrivals | None = None, party: Party | None = None
    ) -> None:
        if not sites:
            raise InvalidValueError("sites", "there are none; give at least one")
        self._sites = dict(sites)
        self._in_order = tuple(self._sites.values())
        self._clock = self._in_order[0].clock
        for name, site in self._sites.items():
            if site.clock is not self._clock:
                raise InvalidValueError(f"sites[{name}]", "has another clock; give all sites of a world the same one")
        self._arrivals = arrivals
        self._party = party
        self._expected = deque(() if arrivals is None else arrivals.workload.leases)
        self._destinations: dict[str, str] = {}
        self._refused: list[str] = []
        if arrivals is not None:
            self._check_arrivals()

    def execute(self, watchers: Sequence[Watcher] = ()) -> WorldResult:
        """Simulate to the end.

        :param watchers: called for each site
        :raises RunFailedError: a lease failed, and the settings of its site say to stop at a failure
        :raises InvalidValueError: the router chose a site that does not exist
        """
        began = time.perf_counter()
        while (due := self._advance()) is not None:
            for site in due:
                site.step(watchers)
            if not due:
                self._act()
        self._clock.set(max(self._clock.now(), *(site.last_instant for site in self._in_order)))
        for site in self._in_order:
            for watch in watchers:
                watch(site)
        wall_s = time.perf_counter() - began
        results = {name: site.result(wall_s) for name, site in self._sites.items()}
        return WorldResult(results, dict(self._destinations), tuple(self._refused))

    def _advance(self) -> list[SiteRun] | None:
        """Move the clock to the next instant.

        :return: the sites where something is due then; an empty list if a request arrives or the party acts instead;
            None if nothing is left to do
        """
        now = self._clock.now()
        acting = None if self._party is None else self._party.next_instant()
        expects = bool(self._expected) or acting is not None
        instants = [site.next_instant(expects=expects) for site in self._in_order]
        following: int | None = None
        for site, instant in zip(self._in_order, instants, strict=True):
            if instant is not None:
                following = earlier(following, instant)
            elif not expects:
                # At once: leases that can get no place end at the instant at which this is certain.
                site.end()
        if self._expected:
            following = earlier(following, self._expected[0].request.submitted)
        if acting is not None:
            following = earlier(following, acting)
        if following is None:
            return None
        following = max(now, following)
        self._clock.set(following)
        return [
            site
            for site, instant in zip(self._in_order, instants, strict=True)
            if instant is not None and instant <= following
        ]

    def _act(self) -> None:
        if self._expected and self._expected[0].request.submitted <= self._clock.now():
            self._route()
        else:
            assert self._party is not None
            self._party.act()

    def _route(self) -> None:
        """Pass the next request that arrives on to the site that the router chooses."""
        assert self._arrivals is not None
        lease = self._expected.popleft()
        lease_id = lease.request.lease_id
        chosen = self._arrivals.router(lease.request, MappingProxyType(self._sites))
        if chosen is None:
            self._refused.append(lease_id)
            return
        if chosen not in self._sites:
            raise InvalidValueError(
                "router", f"chose {chosen!r} for lease {lease_id}; choose one of {', '.join(self._sites)}"
            )
        self._sites[chosen].submit(lease)
        self._destinations[lease_id] = chosen

    def _check_arrivals(self) -> None:
        known = Counter(lease.request.lease_id for lease in self._expected)
        for name, site in self._sites.items():
            if not site.is_open_ended:
                raise InvalidValueError(f"sites[{name}]", "may stop before all leases are done; let it be open-ended")
            known.update({lease.request.lease_id for lease in site.workload.leases} & known.keys())
        twice = next((lease_id for lease_id, count in known.items() if count > 1), None)
        if twice is not None:
            raise InvalidValueError("arrivals", f"lease {twice} exists twice; give each lease an id of its own")
