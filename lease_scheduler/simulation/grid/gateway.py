"""A simulated gateway."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lease_scheduler.federation.answers import Answer, Bid, FederationReason, Refusal, Released
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import MemberDescription, MemberTransition, Verb, together
from lease_scheduler.federation.members import PublishedLoad as Load
from lease_scheduler.federation.negotiation.advance import advance, begin, next_instant
from lease_scheduler.federation.negotiation.calls import Call, Choose, due
from lease_scheduler.federation.negotiation.events import Answered as AnsweredEvent
from lease_scheduler.federation.negotiation.events import Chosen, EndWanted, Event, Reported, TimePassed
from lease_scheduler.federation.negotiation.record import Candidate, Mode, Negotiation, Rules, Stage
from lease_scheduler.federation.negotiation.refusing import final_refusal
from lease_scheduler.federation.routing.policies import RoutingPolicies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.router import choose
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import FINAL_STATES
from lease_scheduler.simulation.grid.peers import Answered, Link, bid_or_none
from lease_scheduler.simulation.grid.post import Entry, Post
from lease_scheduler.simulation.workload import WorkloadLease


@dataclass(frozen=True)
class GatewaySettings:
    """How a gateway asks.

    :ivar rules: its name, and the times of holds
    :ivar mode: how peers are asked
    :ivar answer_time: seconds after which a request is answered
    :ivar reroutes: whether a request that a peer refuses is passed on to another one
    :ivar home: name of the peer that ``home-first`` prefers; None for the first one
    :raises InvalidValueError: a field has an invalid value
    """

    rules: Rules
    mode: Mode = Mode.IN_TURN
    answer_time: int = 60
    reroutes: bool = True
    home: str | None = None

    def __post_init__(self) -> None:
        if self.answer_time <= self.rules.accept_time:
            raise InvalidValueError(
                "answer_time", f"must be more than accept_time, {self.rules.accept_time} s, not {self.answer_time}"
            )
        if not self.reroutes and self.mode is not Mode.IN_TURN:
            raise InvalidValueError("reroutes", f"must be true with the mode {self.mode}, which asks all at once")


@dataclass
class Negotiating:
    """One request at a gateway.

    :ivar record: the record of its negotiation; None if it was refused before
    :ivar refusal: why it was refused before; None if it was not
    :ivar answered: is told the outcome; None if nobody waits for it, or has been told
    :ivar decided: instant of the outcome; None as long as there is none
    :ivar made: calls that were made, in order
    :ivar quotes: answers of peers that were asked for quotes, None for those that have not answered
    :ivar timer: advances the record when its time has come
    :ivar member: name of the peer that has granted the lease; None if none has
    """

    record: Negotiation | None = None
    refusal: Refusal | None = None
    answered: Answered | None = None
    decided: int | None = None
    made: dict[tuple[str, Verb], None] = field(default_factory=dict)
    quotes: dict[str, Answer | None] = field(default_factory=dict)
    timer: Entry | None = None
    member: str | None = None

    @property
    def stage(self) -> Stage:
        """How far it has come."""
        return Stage.REFUSED if self.record is None else self.record.stage

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the peers that were asked for the lease, in order."""
        asking = (Verb.HOLD, Verb.SUBMIT)
        return tuple(dict.fromkeys(name for name, verb in self.made if verb in asking))

    @property
    def reason(self) -> str:
        """Why it has ended or was refused, for people; empty if it goes on."""
        if self.record is None:
            return "" if self.refusal is None else self.refusal.message
        if self.record.final is Stage.REFUSED:
            return final_refusal(self.record).message or self.record.final_reason
        return self.record.final_reason


class Gateway:
    """A gateway. To other gateways it is a peer that cannot hold leases.

    :param policies: its routing policies
    :param random: the stream of random numbers that the dispatch policy draws from
    :param post: what carries its messages
    :param truth: id of a request, or of a lease at any peer -> seconds after which its work is really done. The
        gateway adds those of its requests; the parts of a Grid share it. None if all work takes as long as requested
    """

    def __init__(
        self,
        policies: RoutingPolicies,
        settings: GatewaySettings,
        random: np.random.Generator,
        post: Post,
        truth: dict[str, int] | None = None,
    ) -> None:
        self._policies = policies
        self._settings = settings
        self._random = random
        self._post = post
        self._truth = {} if truth is None else truth
        self._links: dict[str, Link] = {}
        self._routing = RoutingState()
        self._requests: dict[str, Negotiating] = {}
        #: Peer and id of a lease there -> id of the request.
        self._asked: dict[tuple[str, str], str] = {}
        self._followers: list[Callable[[MemberTransition], None]] = []
        self._told = 0
        self._is_describing = False

    def connect(self, links: Sequence[Link]) -> None:
        """Connect it to its peers, once, before it gets requests.

        :param links: the ways to its peers, in the configured order
        :raises InvalidValueError: there is no peer, two have the same name, or the home is none of them
        """
        self._links = {link.peer.name: link for link in links}
        if not links or len(self._links) < len(links):
            raise InvalidValueError("members", "must be at least one, each with a name of its own")
        home = self._settings.home
        if home is not None and home not in self._links:
            raise InvalidValueError("home", f"must be one of {', '.join(self._links)}, not {home!r}")
        for link in links:
            self._follow(link)

    @property
    def name(self) -> str:
        """See ``Peer``."""
        return self._settings.rules.name

    # -- requests --------------------------------------------------------------------------------------------

    def submit(self, lease: WorkloadLease) -> None:
        """Take a request of a user in, and begin to negotiate."""
        if lease.real_duration is not None:
            self._truth[lease.request.lease_id] = lease.real_duration
        self._begin(Ask(lease.request, self._post.now() + self._settings.answer_time), None)

    def requests(self) -> dict[str, Negotiating]:
        """Return all requests by id, in the order in which they arrived."""
        return dict(self._requests)

    def _begin(self, ask: Ask, answered: Answered | None) -> None:
        candidates = [Candidate(name, link.peer.describe().can_hold) for name, link in self._links.items()]
        mode = self._settings.mode.for_kind(ask.terms.kind)
        found = begin(ask, candidates, mode, self._settings.rules, self._post.now())
        if isinstance(found, Refusal):
            self._requests[ask.ask_id] = Negotiating(refusal=found, decided=self._post.now())
            if answered is not None:
                answered(found)
            return
        request = self._requests[ask.ask_id] = Negotiating(found, answered=answered)
        self._go_on(request, found)

    # -- as a peer -------------------------------------------------------------------------------------------

    def describe(self) -> MemberDescription:
        """See ``Peer``. Its speed is the mean of its peers, weighted by their cores.

        Of gateways that ask each other, the one that is asked second has nothing further to add.
        """
        verbs = frozenset({Verb.SUBMIT, Verb.END})
        if self._is_describing:
            return MemberDescription(Resources({}), verbs)
        self._is_describing = True
        try:
            found = [link.peer.describe() for link in self._links.values()]
        finally:
            self._is_describing = False
        names = dict.fromkeys(name for each in found for name in each.capacity)
        capacity = Resources({name: sum(each.capacity.get(name, 0) for each in found) for name in names})
        cores = capacity.get(VCPU, 0)
        speed = sum(each.speed * each.capacity.get(VCPU, 0) for each in found) / cores if cores else 1.0
        return MemberDescription(capacity, verbs, _joined(found), speed)

    def quote(self, ask: Ask, answered: Answered) -> None:
        """See ``Peer``. A gateway gives no quotes."""
        answered(Refusal(self.name, FederationReason.UNSUPPORTED, "a gateway gives no quotes"))

    def receive(self, call: Call, answered: Answered) -> None:
        """See ``Peer``."""
        request = self._requests.get(call.lease_id)
        if call.verb is Verb.SUBMIT and request is None:
            assert call.ask is not None
            self._begin(call.ask, answered)
        elif call.verb is Verb.END:
            if request is not None and request.record is not None:
                self._advance(request, EndWanted())
            answered(Released())
        else:
            message = f"a gateway does not {call.verb} lease {call.lease_id}"
            answered(Refusal(self.name, FederationReason.UNSUPPORTED, message))

    def follow(self, told: Callable[[MemberTransition], None]) -> None:
        """See ``Peer``."""
        self._followers.append(told)

    def place(self, lease_id: str) -> tuple[str, str] | None:
        """See ``Peer``."""
        request = self._requests.get(lease_id)
        if request is None or request.member is None:
            return None
        return self._links[request.member].peer.place(lease_id_at(request.member, lease_id))

    # -- negotiating -----------------------------------------------------------------------------------------

    def _advance(self, request: Negotiating, event: Event) -> None:
        assert request.record is not None
        self._go_on(request, advance(request.record, event, self._post.now()))

    def _go_on(self, request: Negotiating, record: Negotiation) -> None:
        """Take over a record, and make the choices and calls that follow from it."""
        while (choice := next((each for each in due(record) if isinstance(each, Choose)), None)) is not None:
            if record.attempts and not self._settings.reroutes:
                # As if no time were left for a further peer.
                record = advance(replace(record, is_late=True), TimePassed(), self._post.now())
            elif (member := self._chosen(request, record, choice.among)) is None:
                break
            else:
                record = advance(record, Chosen(member), self._post.now())
        request.record = record
        for each in due(record):
            if isinstance(each, Call) and (each.member, each.verb) not in request.made:
                request.made[each.member, each.verb] = None
                self._send(request, each)
        self._watch_time(request, record)
        self._tell_outcome(request, record)

    def _chosen(self, request: Negotiating, record: Negotiation, among: tuple[str, ...]) -> str | None:
        """Return the peer that the policies choose, or None if quotes that they compare are still under way."""
        bids = {each.member: each.bid for each in record.attempts if each.bid is not None and each.member in among}
        described = {name: link.peer.describe() for name, link in self._links.items()}
        question = Question(record.ask.terms, described, among, bids, self._settings.home or next(iter(self._links)))
        if not bids:
            question = replace(question, bids=self._quoted(request))
            wanted = self._policies.allocation.wanted_bids(question, request.quotes.keys())
            for name in wanted:
                if name not in request.quotes:
                    self._ask_for_quote(request, record, name)
            if any(answer is None for answer in request.quotes.values()):
                return None
            request.quotes = {}
        choice = choose(self._policies, question, self._routing, self._random.random())
        self._routing = choice.state
        return choice.member

    def _quoted(self, request: Negotiating) -> dict[str, Bid]:
        """Return the bids that peers have quoted for a request."""
        found = {name: bid_or_none(answer) for name, answer in request.quotes.items() if answer is not None}
        return {name: bid for name, bid in found.items() if bid is not None}

    def _ask_for_quote(self, request: Negotiating, record: Negotiation, name: str) -> None:
        link, asked = self._links[name], record.ask.passed_on(self.name, name)
        request.quotes[name] = None

        def got(answer: Answer) -> None:
            request.quotes[name] = answer
            assert request.record is not None
            self._go_on(request, request.record)

        self._post.after(
            link.delay, lambda: link.peer.quote(asked, lambda answer: self._post.after(link.delay, lambda: got(answer)))
        )

    def _send(self, request: Negotiating, call: Call) -> None:
        link, record = self._links[call.member], request.record
        assert record is not None
        ask_id = record.ask.ask_id
        self._asked[call.member, call.lease_id] = ask_id
        if ask_id in self._truth:
            self._truth[call.lease_id] = self._truth[ask_id]

        def answered(answer: Answer) -> None:
            event = AnsweredEvent(call.member, call.verb, answer)
            self._post.after(link.delay, lambda: self._advance(request, event))

        self._post.after(link.delay, lambda: link.peer.receive(call, answered))

    def _watch_time(self, request: Negotiating, record: Negotiation) -> None:
        instant = next_instant(record)
        if request.timer is not None:
            if request.timer.instant == instant:
                return
            request.timer.cancel()
        request.timer = None if instant is None else self._post.at(instant, lambda: self._time_passed(request))

    def _time_passed(self, request: Negotiating) -> None:
        request.timer = None
        self._advance(request, TimePassed())

    def _tell_outcome(self, request: Negotiating, record: Negotiation) -> None:
        if request.decided is not None or not (record.placed is not None or record.final is not None):
            return
        request.decided = self._post.now()
        request.member = None if record.placed is None else record.placed.member
        if request.answered is not None:
            request.answered(self._outcome(record))
            request.answered = None

    def _outcome(self, record: Negotiation) -> Bid | Refusal:
        """Return the answer to the gateway that has asked."""
        if record.placed is not None and record.placed.bid is not None:
            return replace(record.placed.bid, member=self.name, lease_id=record.ask.ask_id)
        refused = final_refusal(record)
        reason = refused.refusals[0].reason if refused.refusals else FederationReason.OTHER
        return Refusal(self.name, reason, refused.message or record.final_reason, refused.alternatives)

    # -- following -------------------------------------------------------------------------------------------

    def _follow(self, link: Link) -> None:
        name = link.peer.name

        def told(transition: MemberTransition) -> None:
            # Only the end of a lease matters to its negotiation. Those that others have asked for are not for this
            # gateway.
            if transition.state in FINAL_STATES and (name, transition.lease_id) in self._asked:
                self._post.after(link.delay, lambda: self._reported(name, transition))

        link.peer.follow(told)

    def _reported(self, name: str, transition: MemberTransition) -> None:
        request = self._requests[self._asked[name, transition.lease_id]]
        assert request.record is not None
        before = request.record
        self._advance(request, Reported(name, transition))
        if before.placed is None or before.placed.member != name:
            return
        self._told += 1
        passed_on = replace(transition, sequence=self._told, lease_id=before.ask.ask_id)
        for told in self._followers:
            told(passed_on)


def _joined(members: Sequence[MemberDescription]) -> Load | None:
    """Return the loads of several members as one, or None if none publishes any."""
    loads = [each.load for each in members if each.load is not None]
    if not loads:
        return None
    types = dict.fromkeys(of_type for load in loads for of_type in load.external)
    external = {
        of_type: together([load.external[of_type] for load in loads if of_type in load.external]) for of_type in types
    }
    return Load(together([load.local for load in loads]), external)
