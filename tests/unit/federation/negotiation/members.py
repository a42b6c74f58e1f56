"""Members in process for tests of negotiations: honest ones, and those that lie, are slow, forget or are killed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from lease_scheduler.federation.answers import Answer, Bid, FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.calls import Call
from lease_scheduler.federation.negotiation.record import Rules
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources

RULES = Rules("gateway", hold_time=100, accept_time=20, clock_difference=5)
START, DURATION, ANSWER_BY = 1_000, 500, 200


def ask(answer_by: int = ANSWER_BY, path: tuple[str, ...] = (), max_price: float | None = None) -> Ask:
    """Return an ask for one node, from instant 1,000 to 1,500."""
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    terms = LeaseRequest("1", LeaseKind.RESERVATION, nodes, 0, DURATION, START, max_price=max_price)
    return Ask(terms, answer_by, path)


def bid(member: str, price: float | None = None, held_until: int | None = 100) -> Bid:
    """Return a bid for that ask."""
    return Bid(member, lease_id_at(member, "1"), START, START + DURATION, price, held_until=held_until)


def refusal(member: str) -> Refusal:
    """Return a refusal of a full member."""
    return Refusal(member, RefusalReason.CAPACITY, "all hosts are taken")


class Conduct(Enum):
    """How a member behaves."""

    HONEST = "answers, and does what it says"
    FULL = "refuses everything"
    LYING = "offers other terms than were asked for"
    DEARER = "wants more when its offer is accepted"
    FORGETFUL = "forgets what it has, and every id, when it is told to"


@dataclass
class ScriptedMember:
    """A member, and what it really has. It keeps the contract of ``federation.members.Member``.

    :ivar name: its name
    :ivar conduct: how it behaves
    :ivar held: end of each hold by the id of its lease
    :ivar granted: ids of the leases that it has granted and that have not ended
    :ivar over: ids that were rejected or ended, which it never serves again
    """

    name: str
    conduct: Conduct = Conduct.HONEST
    held: dict[str, int] = field(default_factory=dict)
    granted: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)

    def let_expire(self, now: int) -> None:
        """End the holds that are over."""
        self.held = {lease_id: until for lease_id, until in self.held.items() if until > now}

    def forget(self) -> None:
        """Lose everything."""
        self.held, self.granted, self.over = {}, set(), set()

    def answer(self, call: Call, now: int) -> Answer:
        """Do what is asked, and return the answer."""
        self.let_expire(now)
        match call.verb:
            case Verb.HOLD | Verb.SUBMIT:
                return self._taken(call, now)
            case Verb.ACCEPT:
                return self._accepted(call.lease_id)
            case Verb.REJECT:
                self.held.pop(call.lease_id, None)
                self.over.add(call.lease_id)
                return Released()
            case Verb.END:
                self.held.pop(call.lease_id, None)
                self.granted.discard(call.lease_id)
                self.over.add(call.lease_id)
                return Released()
            case Verb.CHANGE if call.lease_id in self.granted:
                return self._bid(call.lease_id, None)
            case _:
                return self._unknown()

    def _taken(self, call: Call, now: int) -> Answer:
        if self.conduct is Conduct.FULL or call.lease_id in self.over:
            return refusal(self.name)
        if call.verb is Verb.SUBMIT:
            self.granted.add(call.lease_id)
            return self._bid(call.lease_id, None)
        assert call.until is not None
        if call.lease_id in self.granted:
            return self._bid(call.lease_id, call.until)
        if call.until <= now:
            return Refusal(self.name, FederationReason.EXPIRED, "the hold would have ended")
        self.held.setdefault(call.lease_id, call.until)
        return self._bid(call.lease_id, self.held[call.lease_id])

    def _accepted(self, lease_id: str) -> Answer:
        if lease_id in self.held:
            del self.held[lease_id]
            self.granted.add(lease_id)
        if lease_id not in self.granted:
            return self._unknown()
        return self._bid(lease_id, None)

    def _bid(self, lease_id: str, held_until: int | None) -> Bid:
        found = replace(bid(self.name, 5.0, held_until), lease_id=lease_id)
        if self.conduct is Conduct.LYING:
            return replace(found, start=START + 1, end=START + DURATION + 1)
        if self.conduct is Conduct.DEARER and held_until is None:
            return replace(found, price=6.0)
        return found

    def _unknown(self) -> Refusal:
        return Refusal(self.name, FederationReason.UNKNOWN, "there is no such lease")


#: The answer of a member that cannot be reached.
SILENCE = Unanswered()
