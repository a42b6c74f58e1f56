"""The record of a negotiation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from lease_scheduler.federation.answers import Bid, Refusal
from lease_scheduler.federation.asks import Ask
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind


class Mode(StrEnum):
    """How members are asked; the value is the word in options.

    Members that cannot hold a lease take part in all modes: they are tried one after the other when no bid of a member
    that can is left.
    """

    #: One after the other; the first one that grants the request gets it.
    IN_TURN = "in-turn"
    #: All at once; when all have answered, the best bid is accepted.
    BEST = "best"
    #: All at once; the first bid is accepted.
    FIRST = "first"

    def for_kind(self, kind: LeaseKind) -> Mode:
        """Return how members are asked for a lease of a kind.

        A held best-effort lease has a place in the queue only. So ``best`` compares quotes of best-effort leases, which
        say when they would start, in place of holds.
        """
        return Mode.IN_TURN if self is Mode.BEST and kind is LeaseKind.BEST_EFFORT else self


class Stage(StrEnum):
    """How far a federated lease has come; the value is the word that users see."""

    #: No member has been asked.
    ASKED = "asked"
    #: Members are asked to hold the lease, or hold it.
    HOLDING = "holding"
    #: A bid was chosen; its member is asked to turn it into a lease.
    ACCEPTED = "accepted"
    #: A member may have granted the lease, but does not say so.
    UNSETTLED = "unsettled"
    #: A member has granted the lease.
    PLACED = "placed"
    #: Its member is asked to change it.
    CHANGING = "changing"
    #: It is being ended, or what was asked for is being given back.
    ENDING = "ending"
    #: It has ended.
    ENDED = "ended"
    #: All members that could have it have refused it, or have not answered.
    REFUSED = "refused"
    #: Its member has lost it, or does not know it any more.
    LOST = "lost"


#: Stages in which nothing further happens to the lease; members may still have to give back what they hold.
FINAL_STAGES = frozenset({Stage.ENDED, Stage.REFUSED, Stage.LOST})


class AttemptState(StrEnum):
    """What is known of the lease at one member."""

    #: The member is asked to hold it.
    HOLDING = "holding"
    #: The member holds it.
    HELD = "held"
    #: The member is asked to grant it, by accepting the hold or without one.
    ACCEPTING = "accepting"
    #: The member has granted it.
    PLACED = "placed"
    #: A hold, or what may be one, is given back.
    REJECTING = "rejecting"
    #: A lease that was granted, or may have been, is ended.
    ENDING = "ending"
    #: The member has refused to grant it, and is asked to end whatever it has nevertheless.
    CLEARING = "clearing"
    #: Nothing is there.
    CLOSED = "closed"


@dataclass(frozen=True)
class Candidate:
    """A member that may be asked.

    :ivar name: its name
    :ivar can_hold: whether it can hold a lease until it is accepted
    :ivar refusal: why it must not be asked; None if it may be
    """

    name: str
    can_hold: bool = True
    refusal: Refusal | None = None


@dataclass(frozen=True)
class Rules:
    """What holds for all negotiations of a gateway. All times are in seconds.

    :ivar name: name of the gateway, which no path of an ask may have twice
    :ivar most_passes: how often an ask may have been passed on before, at most
    :ivar hold_time: how long members are asked to hold a lease
    :ivar accept_time: time that is set aside for the member that is chosen to grant the lease
    :ivar clock_difference: largest difference between the clocks of two members
    :raises InvalidValueError: a field has an invalid value
    """

    name: str
    most_passes: int = 4
    hold_time: int = 300
    accept_time: int = 30
    clock_difference: int = 5

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidValueError("name", "must not be empty")
        for each in ("most_passes", "accept_time", "clock_difference"):
            if getattr(self, each) < 0:
                raise InvalidValueError(each, f"must be at least 0, not {getattr(self, each)}")
        if self.hold_time <= self.accept_time + self.clock_difference:
            raise InvalidValueError(
                "hold_time",
                f"must be more than accept_time and clock_difference together, {self.accept_time} + "
                f"{self.clock_difference}, not {self.hold_time}",
            )


@dataclass(frozen=True)
class Attempt:
    """The lease at one member.

    :ivar member: name of the member
    :ivar state: what is known of it there
    :ivar hold_end: instant from which on no hold can be left, by any clock; None if there was no hold
    :ivar bid: what the member has offered or granted; None before its first answer
    :ivar refusal: why the lease is not there; None if the member has not refused it
    :ivar is_unanswered: whether the latest call that asks for the lease was not answered
    """

    member: str
    state: AttemptState
    hold_end: int | None = None
    bid: Bid | None = None
    refusal: Refusal | None = None
    is_unanswered: bool = False

    @property
    def may_be_granted(self) -> bool:
        """Whether the member may have granted the lease for all that it has answered."""
        return self.state in (AttemptState.ACCEPTING, AttemptState.PLACED, AttemptState.ENDING)


@dataclass(frozen=True)
class Negotiation:
    """The record of a negotiation. Records are written before the calls that follow from them; see the package.

    :ivar ask: the ask as it came, with the present terms
    :ivar candidates: members, in the configured order
    :ivar mode: how they are asked
    :ivar rules: what holds for all negotiations
    :ivar may_pay_twice: whether the client agrees to pay for two leases for a while, if one member does not say whether
        it has granted the lease
    :ivar attempts: the lease at each member that was asked, or that must not be asked
    :ivar is_late: whether it is too late to ask a further member
    :ivar is_ending: whether the client has ended it
    :ivar wanted: terms to which the granted lease is being changed; None if it is not
    :ivar change_refusal: why the latest change was refused; None if it was not
    :ivar final: how it has ended; None as long as it has not
    :ivar final_reason: the reason of that for people
    """

    ask: Ask
    candidates: tuple[Candidate, ...]
    mode: Mode
    rules: Rules
    may_pay_twice: bool = False
    attempts: tuple[Attempt, ...] = ()
    is_late: bool = False
    is_ending: bool = False
    wanted: Ask | None = None
    change_refusal: Refusal | None = None
    final: Stage | None = None
    final_reason: str = ""

    @property
    def stage(self) -> Stage:
        """How far it has come."""
        if self.final is not None:
            return self.final
        if self.is_ending:
            return Stage.ENDING
        if self.placed is not None:
            return Stage.PLACED if self.wanted is None else Stage.CHANGING
        waited_for = [each for each in self.attempts if each.may_be_granted]
        if waited_for:
            return Stage.UNSETTLED if all(_is_doubtful(each) for each in waited_for) else Stage.ACCEPTED
        return Stage.HOLDING if self.attempts else Stage.ASKED

    @property
    def ask_until(self) -> int:
        """Instant from which on no further member is asked, as nobody would grant the lease in time."""
        return self.ask.answer_by - self.rules.accept_time

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do: it is final, and no member holds or runs anything for it."""
        return self.final is not None and all(each.state is AttemptState.CLOSED for each in self.attempts)

    @property
    def placed(self) -> Attempt | None:
        """The attempt whose lease is the result, or None."""
        return next((each for each in self.attempts if each.state is AttemptState.PLACED), None)

    @property
    def untried(self) -> tuple[Candidate, ...]:
        """The members that have not been asked, in the configured order."""
        tried = {each.member for each in self.attempts}
        return tuple(each for each in self.candidates if each.name not in tried)

    @property
    def is_blocked(self) -> bool:
        """Whether no further member may be asked to grant the lease, because one may have granted it already.

        If the client pays for two, one member that does not say whether it has granted the lease does not block.
        """
        granted = [each for each in self.attempts if each.may_be_granted]
        return bool(granted) and not (self.may_pay_twice and len(granted) == 1 and _is_doubtful(granted[0]))

    def in_state(self, *states: AttemptState) -> tuple[Attempt, ...]:
        """Return the attempts in these states, in the order in which they were made."""
        return tuple(each for each in self.attempts if each.state in states)

    def attempt(self, member: str) -> Attempt | None:
        """Return the attempt at a member, or None."""
        return next((each for each in self.attempts if each.member == member), None)

    def with_attempts(self, changed: Iterable[Attempt]) -> Negotiation:
        """Return the record with new or changed attempts."""
        by_member = {each.member: each for each in self.attempts} | {each.member: each for each in changed}
        return replace(self, attempts=tuple(by_member.values()))


def _is_doubtful(attempt: Attempt) -> bool:
    """Return whether a member that may have granted the lease does not say so."""
    return attempt.is_unanswered or attempt.state is AttemptState.ENDING
