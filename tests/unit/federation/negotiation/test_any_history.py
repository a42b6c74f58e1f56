"""Negotiations with members that lie, are slow, forget or are killed, and gateways that are killed at any boundary."""

from __future__ import annotations

from enum import Enum

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lease_scheduler.federation.members import MemberTransition, Verb
from lease_scheduler.federation.negotiation.advance import advance, begin, next_instant
from lease_scheduler.federation.negotiation.calls import Call, Choose, due
from lease_scheduler.federation.negotiation.events import (
    Answered,
    ChangeWanted,
    Chosen,
    EndWanted,
    Event,
    Reported,
    TimePassed,
)
from lease_scheduler.federation.negotiation.record import FINAL_STAGES, Candidate, Mode, Negotiation, Stage
from lease_scheduler.federation.negotiation.refusing import final_refusal
from lease_scheduler.model.states import LeaseState

from .members import ANSWER_BY, RULES, SILENCE, Conduct, ScriptedMember, ask

_NAMES = ("a", "b", "c")
#: Mostly honest members, so that most negotiations come far.
_CONDUCTS = (Conduct.HONEST, Conduct.HONEST, Conduct.FORGETFUL, Conduct.DEARER, Conduct.LYING, Conduct.FULL)


class _Fate(Enum):
    """What becomes of a call."""

    ANSWERED = "it is answered"
    KILLED = "the gateway is killed before it has the answer"
    LOST = "it does not reach its member"
    DELAYED = "it reaches its member later"
    REPEATED = "it reaches its member now and later"
    ANSWER_LOST = "its answer is lost"
    ANSWER_DELAYED = "its answer comes later"


#: Half of the calls are answered.
_FATES = (*[_Fate.ANSWERED] * 5, *_Fate)


class NegotiationMachine(RuleBasedStateMachine):
    """One negotiation, its members, and messages between them that are delayed, lost and repeated.

    ``record`` is what is written. A gateway that is killed loses everything else: the answers on their way to it. Calls
    that are on their way may still reach their members.
    """

    @initialize(
        conducts=st.lists(st.sampled_from(_CONDUCTS), min_size=1, max_size=len(_NAMES)),
        cannot_hold=st.sets(st.sampled_from(_NAMES), max_size=1),
        mode=st.sampled_from(Mode),
        may_pay_twice=st.booleans(),
    )
    def start(self, conducts: list[Conduct], cannot_hold: set[str], mode: Mode, may_pay_twice: bool) -> None:
        self.now = 0
        self.members = {name: ScriptedMember(name, conduct) for name, conduct in zip(_NAMES, conducts, strict=False)}
        candidates = [Candidate(name, can_hold=name not in cannot_hold) for name in self.members]
        record = begin(ask(), candidates, mode, RULES, 0, may_pay_twice=may_pay_twice)
        assert isinstance(record, Negotiation)
        self.record = record
        #: Calls that were made and have not reached their members.
        self.calls: list[Call] = []
        #: Answers that have not reached the gateway.
        self.answers: list[Answered] = []
        self.stages = [record.stage]
        self.has_forgotten = False

    # -- the gateway -------------------------------------------------------------------------------------

    def _advance(self, event: Event) -> None:
        self.record = advance(self.record, event, self.now)
        if self.record.stage is not self.stages[-1]:
            self.stages.append(self.record.stage)

    @precondition(lambda self: bool(due(self.record)))
    @rule(steps=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(_FATES)), min_size=3, max_size=8))
    def do_what_is_due(self, steps: list[tuple[int, _Fate]]) -> None:
        """Do one thing after the other, in any order."""
        for number, fate in steps:
            things = due(self.record)
            if things:
                thing = things[number % len(things)]
                if isinstance(thing, Choose):
                    self._advance(Chosen(thing.among[number % len(thing.among)]))
                else:
                    self._call(thing, fate)

    def _call(self, call: Call, fate: _Fate) -> None:
        if fate in (_Fate.DELAYED, _Fate.REPEATED):
            self.calls.append(call)
        if fate in (_Fate.LOST, _Fate.DELAYED):
            self._advance(Answered(call.member, call.verb, SILENCE))
            return
        answered = self._deliver(call)
        match fate:
            case _Fate.ANSWERED:
                self._advance(answered)
                return
            case _Fate.KILLED:
                # It continues with what is written; nobody takes the answers that were on their way.
                self.answers.clear()
                return
            case _Fate.ANSWER_DELAYED:
                self.answers.append(answered)
            case _:
                pass
        self._advance(Answered(call.member, call.verb, SILENCE))

    def _deliver(self, call: Call) -> Answered:
        return Answered(call.member, call.verb, self.members[call.member].answer(call, self.now))

    @precondition(lambda self: self.record.stage is Stage.PLACED)
    @rule()
    def change(self) -> None:
        self._advance(ChangeWanted(self.record.ask.terms))

    @precondition(lambda self: self.record.final is None and not self.record.is_ending)
    @rule(is_decided=st.sampled_from([False, False, False, True]))
    def end(self, is_decided: bool) -> None:
        if is_decided:
            self._advance(EndWanted())

    # -- what happens to messages ------------------------------------------------------------------------

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def deliver_a_late_call(self, data: st.DataObject) -> None:
        """Calls overtake each other."""
        self._deliver(self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1))))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def deliver_a_late_answer(self, data: st.DataObject) -> None:
        self._advance(self.answers.pop(data.draw(st.integers(0, len(self.answers) - 1))))

    @rule(seconds=st.sampled_from([1, 1, 1, 10, 30, 60, 150]))
    def let_time_pass(self, seconds: int) -> None:
        self.now += seconds
        for member in self.members.values():
            member.let_expire(self.now)
        self._advance(TimePassed())

    def _forgetful(self) -> list[ScriptedMember]:
        return [each for each in self.members.values() if each.conduct is Conduct.FORGETFUL]

    @precondition(lambda self: any(each.held or each.granted for each in self._forgetful()))
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        member = data.draw(st.sampled_from(self._forgetful()))
        member.forget()
        # A member without a memory cannot tell late calls from new ones.
        self.calls = [each for each in self.calls if each.member != member.name]
        self.has_forgotten = True

    @precondition(lambda self: self.record.placed is not None)
    @rule(state=st.sampled_from([LeaseState.ACTIVE, LeaseState.DONE, LeaseState.FAILED]))
    def report(self, state: LeaseState) -> None:
        placed = self.record.placed
        assert placed is not None
        assert placed.bid is not None
        member, lease_id = self.members[placed.member], placed.bid.lease_id
        if state is not LeaseState.ACTIVE:
            member.granted.discard(lease_id)
            member.over.add(lease_id)
        self._advance(Reported(placed.member, MemberTransition(1, lease_id, self.now, state)))

    # -- what holds --------------------------------------------------------------------------------------

    @invariant()
    def at_most_one_member_has_granted_the_lease(self) -> None:
        """Or two, if the client pays for two."""
        granted = [name for name, member in self.members.items() if member.granted]
        most = 2 if self.record.may_pay_twice else 1
        assert len(granted) <= most, granted
        assert sum(each.may_be_granted for each in self.record.attempts) <= most

    @invariant()
    def what_a_member_has_is_known_or_on_its_way(self) -> None:
        """Nothing is granted at a member without an attempt that will end it, unless the record knows it is placed."""
        for name, member in self.members.items():
            attempt = self.record.attempt(name)
            if member.granted:
                assert attempt is not None
                is_on_its_way = any(each.member == name for each in self.answers)
                assert attempt.state.value != "closed" or is_on_its_way or self._was_granted_late(name)

    def _was_granted_late(self, name: str) -> bool:
        """Return whether a submission is on its way that reaches the member only now."""
        return any(each.member == name and each.verb is Verb.SUBMIT for each in self.calls)

    @invariant()
    def final_stages_stay(self) -> None:
        for before in self.stages[:-1]:
            assert before not in FINAL_STAGES

    @invariant()
    def time_that_is_due_changes_the_record(self) -> None:
        instant = next_instant(self.record)
        if instant is not None:
            assert advance(self.record, TimePassed(), max(self.now, instant)) != self.record

    def teardown(self) -> None:
        """Whatever has happened: when members answer, nothing is held in the end, and there is one result."""
        if not hasattr(self, "record"):
            return
        self.answers.clear()
        for call in self.calls:
            self.members[call.member].answer(call, self.now)
        for _ in range(60):
            for each in due(self.record):
                match each:
                    case Choose():
                        self._advance(Chosen(each.among[0]))
                    case Call():
                        self._advance(
                            Answered(each.member, each.verb, self.members[each.member].answer(each, self.now))
                        )
                break
            else:
                instant = next_instant(self.record)
                if instant is None:
                    break
                self.now = max(self.now, instant)
                self._advance(TimePassed())
        assert due(self.record) == ()
        self._check_the_end()

    def _check_the_end(self) -> None:
        record = self.record
        assert not any(member.held for member in self.members.values())
        granted = [name for name, member in self.members.items() if member.granted]
        if record.placed is None:
            assert record.is_over
            assert granted == []
        else:
            assert record.stage is Stage.PLACED
            assert granted == [record.placed.member] or (granted == [] and self.has_forgotten)
        if record.stage is Stage.REFUSED:
            self._check_the_refusal(record)

    def _check_the_refusal(self, record: Negotiation) -> None:
        """Every member is told of exactly once, with its reason."""
        found = final_refusal(record)
        told = [*(each.member for each in found.refusals), *found.unanswered, *found.not_asked]
        released = [each.member for each in record.attempts if each.refusal is None and not each.is_unanswered]
        assert sorted([*told, *released]) == sorted(self.members)
        assert all(name in found.message for name in told)
        # Only bids that nobody chose in time have no reason.
        assert not released or self.now >= ANSWER_BY


NegotiationMachine.TestCase.settings = settings(max_examples=300, stateful_step_count=15, deadline=None)
TestAnyHistory = NegotiationMachine.TestCase
