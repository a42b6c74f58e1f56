"""A Grid: sites and gateways on one clock, with the requests that arrive at each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lease_scheduler.federation.negotiation.record import Stage
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.simulation.grid.gateway import Gateway
from lease_scheduler.simulation.grid.post import Post
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.site_run import SiteRun, Watcher
from lease_scheduler.simulation.workload import Workload
from lease_scheduler.simulation.world import World


@dataclass(frozen=True)
class Outcome:
    """What became of a request of a user of a gateway.

    :ivar request: its terms
    :ivar gateway: name of the gateway at which it arrived
    :ivar stage: how far it has come
    :ivar asked: names of the peers of the gateway that were asked for the lease, in order
    :ivar decided: instant at which the gateway knew that it was granted or refused; None if it never did
    :ivar site: name of the site that granted it; None if none did
    :ivar lease: the lease there; None if there is none
    :ivar reason: why it has ended, or was refused, for people; empty for a lease that goes on
    """

    request: LeaseRequest
    gateway: str
    stage: Stage
    asked: tuple[str, ...]
    decided: int | None
    site: str | None
    lease: Lease | None
    reason: str


@dataclass(frozen=True)
class GridResult:
    """A completed simulation of a Grid.

    :ivar sites: the result of each site, by name. ``wall_s`` and ``peak_rss_bytes`` are those of the whole Grid.
    :ivar outcomes: the requests of users of gateways: gateway by gateway, in the order of their arrival there
    """

    sites: Mapping[str, RunResult]
    outcomes: tuple[Outcome, ...]


class Grid:
    """Sites and gateways on one clock.

    :param sites: the sites by name, which must be open-ended
    :param gateways: the gateways
    :param post: what carries the messages of all gateways
    :param arrivals: name of a gateway -> requests of its users; their own hosts are ignored
    :raises InvalidValueError: there is no such gateway, two parts have the same name, a site may stop before its leases
        are done, or two requests have the same id
    """

    def __init__(
        self, sites: Mapping[str, SiteRun], gateways: Sequence[Gateway], post: Post, arrivals: Mapping[str, Workload]
    ) -> None:
        self._sites = dict(sites)
        self._gateways = {gateway.name: gateway for gateway in gateways}
        names = [*sites, *(gateway.name for gateway in gateways)]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise InvalidValueError("gateways", f"{twice!r} is the name of two parts; give each its own")
        unknown = next((name for name in arrivals if name not in self._gateways), None)
        if unknown is not None:
            raise InvalidValueError("arrivals", f"{unknown!r} is no gateway; they are {', '.join(self._gateways)}")
        for name, site in sites.items():
            if not site.is_open_ended:
                raise InvalidValueError(f"sites[{name}]", "may stop before all leases are done; let it be open-ended")
        ids = Counter(lease.request.lease_id for workload in arrivals.values() for lease in workload.leases)
        repeated = next((lease_id for lease_id, count in ids.items() if count > 1), None)
        if repeated is not None:
            raise InvalidValueError("arrivals", f"lease {repeated} arrives twice; give each request an id of its own")
        for name, workload in arrivals.items():
            gateway = self._gateways[name]
            for lease in workload.leases:
                post.arrive(lease.request.submitted, partial(gateway.submit, lease))
        self._arrivals = arrivals
        self._world = World(self._sites, party=post)

    def execute(self, watchers: Sequence[Watcher] = ()) -> GridResult:
        """Run to the end.

        :param watchers: called for each site
        :raises RunFailedError: a lease failed, and the settings of its site say to stop at a failure
        """
        results = self._world.execute(watchers).sites
        return GridResult(results, tuple(self._outcomes()))

    def _outcomes(self) -> Iterator[Outcome]:
        for name, workload in self._arrivals.items():
            gateway = self._gateways[name]
            requests = gateway.requests()
            for each in workload.leases:
                found = gateway.place(each.request.lease_id)
                negotiating = requests[each.request.lease_id]
                site, lease_id = found or (None, "")
                lease = None if site is None else self._sites[site].store.lease(lease_id)
                yield Outcome(
                    each.request,
                    name,
                    negotiating.stage,
                    negotiating.asked,
                    negotiating.decided,
                    site,
                    lease,
                    negotiating.reason,
                )
