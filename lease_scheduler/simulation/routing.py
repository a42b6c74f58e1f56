"""A router of a world that decides by the routing policies of a federation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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

    It asks sites for the bids that the allocation policy wants to see. If these are those of all sites, it refuses what
    no site would grant. Otherwise, the site that it chooses may refuse the request.

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
        question, asked = Question(request, members, tuple(sites), home=self._home), set[str]()
        while wanted := [name for name in self._policies.allocation.wanted_bids(question, asked) if name not in asked]:
            found = {name: as_bid(name, sites[name].quote(request)) for name in wanted}
            bids = {name: bid for name, bid in found.items() if bid is not None}
            question = replace(question, bids={**question.bids, **bids})
            asked.update(wanted)
        if asked == set(sites):
            if not question.bids:
                return None
            question = replace(question, among=tuple(name for name in sites if name in question.bids))
        choice = choose(self._policies, question, self._state, self._random.random())
        self._state = choice.state
        return choice.member
