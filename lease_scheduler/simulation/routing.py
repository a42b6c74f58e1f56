"""A router of a world that decides by the routing policies of a federation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lease_scheduler.federation.members import MemberDescription, PublishedLoad
from lease_scheduler.federation.quotes import as_bid
from lease_scheduler.federation.routing.policies import RoutingPolicies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.router import choose
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.simulation.world import RoutableSite


class PolicyRouter:
    """A ``world.Router`` whose sites are the members of a federation.

    With an allocation policy that compares bids, it asks all sites for quotes, and refuses what no site would grant.
    With any other, the site that it chooses may refuse the request.

    :param policies: the routing policies
    :param random: the stream of random numbers that the dispatch policy draws from
    :param loads: load by site, for policies that use it; a site that is left out publishes none
    :param home: name of the site that ``home-first`` prefers; None for the first one
    """

    def __init__(
        self,
        policies: RoutingPolicies,
        random: np.random.Generator,
        loads: Mapping[str, PublishedLoad] | None = None,
        home: str | None = None,
    ) -> None:
        self._policies = policies
        self._random = random
        self._loads = dict(loads or {})
        self._home = home
        self._state = RoutingState()

    def __call__(self, request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        """See ``world.Router``."""
        members = {
            name: MemberDescription(site.view().capacity, load=self._loads.get(name)) for name, site in sites.items()
        }
        among, bids = tuple(sites), {}
        if self._policies.allocation.compares_bids:
            found = {name: as_bid(name, site.quote(request)) for name, site in sites.items()}
            bids = {name: bid for name, bid in found.items() if bid is not None}
            among = tuple(bids)
        if not among:
            return None
        question = Question(request, members, among, bids, self._home)
        choice = choose(self._policies, question, self._state, self._random.random())
        self._state = choice.state
        return choice.member
