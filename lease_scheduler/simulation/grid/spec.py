"""Grids as plain values, and how to make one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.grid.gateway import Gateway, GatewaySettings
from lease_scheduler.simulation.grid.grid import Grid
from lease_scheduler.simulation.grid.learning import LearntLoad
from lease_scheduler.simulation.grid.peers import Link, Peer, SitePeer
from lease_scheduler.simulation.grid.post import Post
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload

_NONE = Workload("no requests", ())


@dataclass(frozen=True)
class SiteSpec:
    """A site of a Grid. It publishes the load that it learns.

    :ivar workload: requests of its own users
    :ivar settings: how to run it
    :ivar site: its hosts; None for those of the workload
    :ivar speed: work that a host does in a second, see ``SimulatedMember``
    :ivar can_hold: whether it can hold leases for gateways
    """

    workload: Workload = _NONE
    settings: RunSettings = field(default_factory=RunSettings)
    site: Site | None = None
    speed: float = 1.0
    can_hold: bool = True


@dataclass(frozen=True)
class GatewaySpec:
    """A gateway of a Grid.

    :ivar members: name of a site or gateway -> seconds that a message to it takes, in the configured order
    :ivar settings: how it asks
    :ivar policies: name of a routing policy by family; a family that is left out has its default policy
    :ivar workload: requests of its users
    """

    members: Mapping[str, int]
    settings: GatewaySettings
    policies: Mapping[str, str] = field(default_factory=dict)
    workload: Workload = _NONE


@dataclass(frozen=True)
class GridSpec:
    """A Grid.

    :ivar sites: the sites by name
    :ivar gateways: the gateways, by the names in their settings
    :ivar seed: seed of all that is random in it, which is dispatch at random
    """

    sites: Mapping[str, SiteSpec]
    gateways: tuple[GatewaySpec, ...]
    seed: int = 1

    def make(self) -> Grid:
        """Return a new Grid. The ids of its requests begin with the name of their gateway.

        :raises InvalidValueError: the parts do not go together, or a policy is unknown
        """
        clock = SimulatedClock()
        post, truth = Post(clock), dict[str, int]()
        sites = {name: SiteRun(each.workload, each.settings, clock, each.site) for name, each in self.sites.items()}
        peers: dict[str, Peer] = {
            name: SitePeer(
                SimulatedMember(name, site, speed=self.sites[name].speed, real_durations=truth),
                LearntLoad(site, self.sites[name].speed),
                can_hold=self.sites[name].can_hold,
            )
            for name, site in sites.items()
        }
        gateways = {each.settings.rules.name: self._gateway(each, post, truth) for each in self.gateways}
        peers |= gateways
        for spec in self.gateways:
            name = spec.settings.rules.name
            unknown = next((member for member in spec.members if member not in peers or member == name), None)
            if unknown is not None:
                known = ", ".join(each for each in peers if each != name)
                raise InvalidValueError("members", f"{unknown!r} cannot be one of {name}; known are {known}")
            gateways[name].connect([Link(peers[member], delay) for member, delay in spec.members.items()])
        arrivals = {each.settings.rules.name: _of(each.settings.rules.name, each.workload) for each in self.gateways}
        return Grid(sites, [*gateways.values()], post, arrivals)

    def _gateway(self, spec: GatewaySpec, post: Post, truth: dict[str, int]) -> Gateway:
        policies = load_routing_policies(spec.policies, PolicyOptions())
        random = random_stream(self.seed, f"dispatch of {spec.settings.rules.name}")
        return Gateway(policies, spec.settings, random, post, truth)


def _of(gateway: str, workload: Workload) -> Workload:
    """Return the requests with ids that begin with the name of the gateway."""
    leases = tuple(
        replace(each, request=replace(each.request, lease_id=f"{gateway}-{each.request.lease_id}"))
        for each in workload.leases
    )
    return replace(workload, leases=leases)
