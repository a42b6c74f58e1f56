"""The choice of a member by the configured policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import MemberDescription
from lease_scheduler.federation.negotiation.record import Negotiation
from lease_scheduler.federation.routing.policies import RoutingPolicies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.router import choose
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.federated import StoredRouting
from lease_scheduler.service.gateway.calling import Members

#: What is said of a member that has not described itself yet.
_UNKNOWN = MemberDescription(Resources({}))

#: Seconds that members have to make the bids that a policy compares, before one of them is chosen.
_QUOTE_SECONDS = 10.0


class Router:
    """Chooses members.

    :param members: the members
    :param uniform: returns a random number, at least 0 and less than 1
    :param home: name of the member that is the clients' own site; None if there is none
    """

    def __init__(
        self, members: Members, policies: RoutingPolicies, uniform: Callable[[], float], home: str | None
    ) -> None:
        self._members = members
        self._policies = policies
        self._uniform = uniform
        self._home = home

    def chosen(self, record: Negotiation, among: tuple[str, ...], stored: StoredRouting) -> tuple[str, StoredRouting]:
        """Return the member that is asked next, or whose bid is accepted, and what the router remembers of it.

        :param among: names of the members of which one is to be chosen
        """
        bids = {each.member: each.bid for each in record.attempts if each.bid is not None and each.member in among}
        if not bids:
            bids = self._wanted_bids(record, among)
        member, state = self._among(record.ask, among, bids, stored.state)
        return member, replace(stored, state=state)

    def _wanted_bids(self, record: Negotiation, among: tuple[str, ...]) -> dict[str, Bid]:
        """Return the bids that the policy wants to see, from the members that make any."""
        bids: dict[str, Bid] = {}
        asked: set[str] = set()
        while True:
            question = self._question(record.ask, among, bids)
            wanted = [name for name in self._policies.allocation.wanted_bids(question, asked) if name not in asked]
            if not wanted:
                return bids
            quotes = self._members.quotes(wanted, record.ask, record.rules.name, _QUOTE_SECONDS)
            bids |= {name: each for name, each in quotes.items() if isinstance(each, Bid)}
            asked.update(wanted)

    def best(self, ask: Ask, bids: Mapping[str, Bid], stored: StoredRouting) -> str:
        """Return the member that would be chosen among those with bids; nothing is remembered of it."""
        return self._among(ask, tuple(bids), bids, stored.state)[0]

    def _among(
        self, ask: Ask, among: tuple[str, ...], bids: Mapping[str, Bid], state: RoutingState
    ) -> tuple[str, RoutingState]:
        found = choose(self._policies, self._question(ask, among, bids), state, self._uniform())
        return found.member, found.state

    def _question(self, ask: Ask, among: tuple[str, ...], bids: Mapping[str, Bid]) -> Question:
        described = {name: self._members.described(name) or _UNKNOWN for name in self._members.names}
        return Question(ask.terms, described, among, bids, self._home)
