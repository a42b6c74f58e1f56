"""The steps of a negotiation, one by one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lease_scheduler.federation.answers import Alternative, Answer, FederationReason, Refusal, Released
from lease_scheduler.federation.asks import lease_id_at
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
from lease_scheduler.federation.negotiation.record import Candidate, Mode, Negotiation, Rules, Stage
from lease_scheduler.federation.negotiation.refusing import final_refusal
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import LeaseState

from .members import ANSWER_BY, DURATION, RULES, SILENCE, START, Conduct, ScriptedMember, ask, bid, refusal


def _begun(
    mode: Mode, names: str = "ab", *, cannot_hold: str = "", may_pay_twice: bool = False, now: int = 0
) -> Negotiation:
    candidates = [Candidate(name, can_hold=name not in cannot_hold) for name in names]
    record = begin(ask(), candidates, mode, RULES, now, may_pay_twice=may_pay_twice)
    assert isinstance(record, Negotiation)
    return record


def _after(record: Negotiation, *events: Event, now: int = 0) -> Negotiation:
    for event in events:
        record = advance(record, event, now)
    return record


def _held(member: str, answer: Answer | None = None) -> Answered:
    return Answered(member, Verb.HOLD, bid(member) if answer is None else answer)


def _accepted(member: str, answer: Answer | None = None) -> Answered:
    return Answered(member, Verb.ACCEPT, bid(member, held_until=None) if answer is None else answer)


def _calls(record: Negotiation) -> list[str]:
    """Return what is due, in short: the verb and the member of calls, and the members to choose from."""
    return [
        f"choose {'/'.join(each.among)}" if isinstance(each, Choose) else f"{each.verb} {each.member}"
        for each in due(record)
    ]


# -- one after the other ---------------------------------------------------------------------------------


def test_in_turn_the_next_member_is_asked_when_one_has_refused() -> None:
    record = _begun(Mode.IN_TURN)
    assert (record.stage, _calls(record)) == (Stage.ASKED, ["choose a/b"])
    record = _after(record, Chosen("b"))
    assert (record.stage, _calls(record)) == (Stage.HOLDING, ["hold b"])
    record = _after(record, _held("b", refusal("b")))
    assert _calls(record) == ["choose a"]
    record = _after(record, Chosen("a"), _held("a"))
    assert (record.stage, _calls(record)) == (Stage.ACCEPTED, ["accept a"])
    record = _after(record, _accepted("a"))
    assert (record.stage, _calls(record)) == (Stage.PLACED, [])
    assert record.placed is not None
    assert record.placed.bid == bid("a", held_until=None)


def test_a_call_carries_an_id_and_a_path_of_its_own() -> None:
    (call,) = due(_after(_begun(Mode.IN_TURN), Chosen("b"), now=10))

    assert isinstance(call, Call)
    assert call.ask is not None
    assert call.lease_id == call.ask.ask_id == lease_id_at("b", "1") != lease_id_at("a", "1")
    assert call.ask.path == ("gateway",)
    assert call.until == 10 + RULES.hold_time


def test_a_refusal_gives_all_reasons_and_the_best_alternatives() -> None:
    later = Alternative("a", START + 100, START + 100 + DURATION, 1, 2.0)
    sooner = Alternative("b", START + 50, START + 50 + DURATION, 1)
    shorter = Alternative("b", START, START + 400, 1)
    record = _after(
        _begun(Mode.IN_TURN, "abc"),
        Chosen("a"),
        _held("a", replace(refusal("a"), alternatives=(later,))),
        Chosen("c"),
        _held("c", SILENCE),
        Chosen("b"),
        _held("b", replace(refusal("b"), alternatives=(shorter, sooner))),
    )

    assert record.stage is Stage.REFUSED
    found = final_refusal(record, 2)
    assert (found.unanswered, found.not_asked, found.alternatives) == (("c",), (), (sooner, later))
    assert [each.reason for each in found.refusals] == [RefusalReason.CAPACITY] * 2
    assert found.message == "a: all hosts are taken; b: all hosts are taken; c: did not answer in time"


def test_a_hold_that_was_not_answered_is_given_back_while_the_next_member_is_asked() -> None:
    record = _after(_begun(Mode.IN_TURN), Chosen("a"), _held("a", SILENCE))
    assert _calls(record) == ["reject a", "choose b"]
    record = _after(record, Chosen("b"), Answered("a", Verb.REJECT, SILENCE), _held("b"), _accepted("b"))
    assert (record.stage, _calls(record)) == (Stage.PLACED, ["reject a"])
    assert _calls(_after(record, Answered("a", Verb.REJECT, Released()))) == []


def test_a_hold_that_the_tenant_accepted_at_its_site_is_ended() -> None:
    """Otherwise a tenant would have the lease at each site that held it, within the limits of the gateway."""
    record = _after(_begun(Mode.BEST, "ab"), _held("a"), _held("b"), Chosen("a"), _accepted("a"))
    assert _calls(record) == ["reject b"]
    record = _after(record, Answered("b", Verb.REJECT, refusal("b")))
    assert (record.stage, _calls(record)) == (Stage.PLACED, ["end b"])
    assert _calls(_after(record, Answered("b", Verb.END, SILENCE), now=1_000)) == ["end b"]
    assert _calls(_after(record, Answered("b", Verb.END, Released()))) == []


def test_a_hold_that_nobody_gives_back_ends_by_itself() -> None:
    """By the clock of its member, which may be 5 s slow."""
    record = _after(_begun(Mode.IN_TURN), Chosen("a"), _held("a", SILENCE))

    assert next_instant(record) == RULES.hold_time + RULES.clock_difference
    assert _calls(_after(record, TimePassed(), now=104)) == ["reject a", "choose b"]
    assert _calls(_after(record, TimePassed(), now=105)) == ["choose b"]


# -- all at once -----------------------------------------------------------------------------------------


def test_of_the_best_mode_the_choice_is_made_when_all_have_answered() -> None:
    record = _begun(Mode.BEST, "abc")
    assert _calls(record) == ["hold a", "hold b", "hold c"]
    record = _after(record, _held("b"), _held("c", refusal("c")))
    assert _calls(record) == ["hold a"]
    record = _after(record, _held("a"))
    assert _calls(record) == ["choose a/b"]
    record = _after(record, Chosen("b"), _accepted("b"))
    assert (record.stage, _calls(record)) == (Stage.PLACED, ["reject a"])


def test_when_the_best_member_refuses_after_all_another_hold_is_accepted() -> None:
    record = _after(_begun(Mode.BEST), _held("a"), _held("b"), Chosen("b"), _accepted("b", refusal("b")))

    assert _calls(record) == ["end b", "choose a"]


def test_the_first_bid_is_accepted_and_the_others_are_given_back() -> None:
    record = _after(_begun(Mode.FIRST, "abc"), _held("c"))
    assert _calls(record) == ["hold a", "hold b", "accept c"]
    record = _after(record, _held("a"))
    assert _calls(record) == ["hold b", "accept c"]
    record = _after(record, _accepted("c"))
    assert _calls(record) == ["reject a", "reject b"]


def test_when_the_first_bid_cannot_be_accepted_the_next_one_is() -> None:
    record = _after(_begun(Mode.FIRST, "abc"), _held("c"), _held("b"), _accepted("c", refusal("c")))

    assert _calls(record) == ["hold a", "accept b", "end c"]


def test_members_that_cannot_hold_are_tried_when_no_bid_is_left() -> None:
    record = _begun(Mode.BEST, "abc", cannot_hold="bc")
    assert _calls(record) == ["hold a"]
    record = _after(record, _held("a", refusal("a")))
    assert _calls(record) == ["choose b/c"]
    record = _after(record, Chosen("c"))
    assert (record.stage, _calls(record)) == (Stage.ACCEPTED, ["submit c"])
    record = _after(record, Answered("c", Verb.SUBMIT, refusal("c")))
    assert _calls(record) == ["end c", "choose b"]
    assert _after(record, Chosen("b"), Answered("b", Verb.SUBMIT, bid("b"))).stage is Stage.PLACED


# -- members that do not say whether they have granted the lease -----------------------------------------


@pytest.mark.parametrize("mode", Mode)
def test_an_accept_without_an_answer_leads_to_no_lease_elsewhere(mode: Mode) -> None:
    record = _begun(mode)
    record = _after(record, Chosen("a")) if mode is Mode.IN_TURN else _after(record, _held("b", refusal("b")))
    record = _after(record, _held("a"))
    record = _after(record, Chosen("a")) if mode is Mode.BEST else record
    record = _after(record, _accepted("a", SILENCE), _accepted("a", SILENCE))

    assert (record.stage, _calls(record)) == (Stage.UNSETTLED, ["accept a"])
    assert _after(record, TimePassed(), now=10 * ANSWER_BY).stage is Stage.UNSETTLED
    assert _after(record, _accepted("a"), now=10 * ANSWER_BY).stage is Stage.PLACED


def test_a_submission_without_an_answer_leads_to_no_lease_elsewhere() -> None:
    record = _after(_begun(Mode.IN_TURN, cannot_hold="a"), Chosen("a"), Answered("a", Verb.SUBMIT, SILENCE))

    assert (record.stage, _calls(record)) == (Stage.UNSETTLED, ["submit a"])


def test_other_holds_are_kept_until_the_accept_is_answered() -> None:
    record = _after(_begun(Mode.BEST), _held("a"), _held("b"), Chosen("a"), _accepted("a", SILENCE))
    assert _calls(record) == ["accept a"]
    expired = Refusal("a", FederationReason.EXPIRED, "the hold has ended")
    assert _calls(_after(record, _accepted("a", expired))) == ["end a", "choose b"]


def test_who_pays_for_two_gets_a_lease_elsewhere_and_the_other_one_is_ended() -> None:
    record = _after(_begun(Mode.IN_TURN, may_pay_twice=True), Chosen("a"), _held("a"), _accepted("a", SILENCE))
    assert _calls(record) == ["accept a", "choose b"]
    record = _after(record, Chosen("b"), _held("b"))
    assert _calls(record) == ["accept a", "accept b"]
    record = _after(record, _accepted("b"))
    assert (record.stage, _calls(record)) == (Stage.PLACED, ["end a"])
    assert _calls(_after(record, Answered("a", Verb.END, Released()))) == []


def test_who_pays_for_two_is_not_asked_to_pay_for_three() -> None:
    record = _after(_begun(Mode.IN_TURN, "abc", may_pay_twice=True), Chosen("a"), _held("a"), _accepted("a", SILENCE))
    record = _after(record, Chosen("b"), _held("b"), _accepted("b", SILENCE))

    assert (record.stage, _calls(record)) == (Stage.UNSETTLED, ["accept a", "accept b"])


def test_if_both_say_at_last_that_they_granted_it_the_second_answer_is_ended() -> None:
    record = _after(_begun(Mode.IN_TURN, may_pay_twice=True), Chosen("a"), _held("a"), _accepted("a", SILENCE))
    record = _after(record, Chosen("b"), _held("b"), _accepted("a"))
    assert (record.stage, _calls(record)) == (Stage.PLACED, ["end b"])
    assert _calls(_after(record, _accepted("b"))) == ["end b"]


# -- members that contradict themselves ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"member": "b"}, "is about lease .* at b, not about lease .* at a"),
        ({"lease_id": "1"}, "is about lease 1 at a, not about lease"),
        ({"start": START + 1}, f"starts at {START + 1}, not at {START}"),
        ({"end": START + 1}, "lasts .*, not "),
        ({"held_until": None}, "does not say until when the lease is held"),
        ({"start": None, "end": None}, "has no start, but leases of kind reservation do"),
    ],
)
def test_a_bid_that_contradicts_the_terms_is_a_refusal_and_is_given_back(
    wrong: dict[str, object], message: str
) -> None:
    bad = replace(bid("a"), **wrong)  # type: ignore[arg-type]
    record = _after(_begun(Mode.IN_TURN), Chosen("a"), _held("a", bad))

    assert _calls(record) == ["reject a", "choose b"]
    found = record.attempts[0].refusal
    assert found is not None
    assert found.reason is FederationReason.CONTRADICTORY
    assert re.search(message, found.message)


@pytest.mark.parametrize(
    ("start", "end", "is_kept"),
    [(12, 510, True), (12, 509, False), (12, 512, False), (9, 510, False), (201, 510, False)],
)
def test_a_reservation_that_starts_at_once_starts_when_it_is_accepted_and_ends_as_asked(
    start: int, end: int, is_kept: bool
) -> None:
    terms = replace(ask().terms, start=10)
    record = begin(replace(ask(), terms=terms), [Candidate("a")], Mode.IN_TURN, RULES, 0)
    assert isinstance(record, Negotiation)
    held = replace(bid("a"), start=10, end=510)
    record = _after(record, Chosen("a"), _held("a", held))

    record = _after(record, Answered("a", Verb.ACCEPT, replace(held, start=start, end=end, held_until=None)))
    assert _calls(record) == ([] if is_kept else ["end a"])


@pytest.mark.parametrize(
    ("start", "end", "is_kept"),
    [(START, START + DURATION, True), (START - 1, START + 600, False), (START + 400, 2_001, False)],
)
def test_the_bid_for_a_deadline_lease_is_between_its_start_and_its_deadline(
    start: int, end: int, is_kept: bool
) -> None:
    terms = replace(ask().terms, kind=LeaseKind.DEADLINE, deadline=2_000)
    record = begin(replace(ask(), terms=terms), [Candidate("a")], Mode.BEST, RULES, 0)
    assert isinstance(record, Negotiation)

    record = _after(record, _held("a", replace(bid("a"), start=start, end=end)))
    assert _calls(record) == (["choose a"] if is_kept else ["reject a"])


def test_a_bid_above_the_most_that_the_client_pays_is_given_back() -> None:
    record = begin(ask(max_price=4.0), [Candidate("a"), Candidate("b")], Mode.BEST, RULES, 0)
    assert isinstance(record, Negotiation)

    assert _calls(_after(record, _held("a", bid("a", 4.0)), _held("b", bid("b", 4.5)))) == ["reject b", "choose a"]


def test_a_lease_that_got_dearer_is_ended_before_another_member_is_asked_to_grant_one() -> None:
    record = _after(_begun(Mode.BEST), _held("a", bid("a", 5.0)), _held("b"), Chosen("a"))
    record = _after(record, _accepted("a", bid("a", 6.0, None)))
    assert (record.stage, _calls(record)) == (Stage.UNSETTLED, ["end a"])
    assert _calls(_after(record, Answered("a", Verb.END, Released()))) == ["choose b"]


def test_what_a_member_grants_or_holds_after_it_was_given_back_is_given_back_again() -> None:
    """Members without a memory of ids that are over may do so, when a call was on its way for long."""
    record = _after(_begun(Mode.IN_TURN), Chosen("a"), _held("a", SILENCE), Answered("a", Verb.REJECT, Released()))
    assert _calls(record) == ["choose b"]
    assert _calls(_after(record, _held("a"))) == ["reject a", "choose b"]
    gone = _after(record, Chosen("b"), _held("b"), _accepted("b", refusal("b")), Answered("b", Verb.END, Released()))
    assert gone.is_over
    assert _calls(_after(gone, _accepted("b"))) == ["end b"]


# -- time ------------------------------------------------------------------------------------------------


def test_who_has_not_answered_by_the_deadline_is_told() -> None:
    record = _after(_begun(Mode.BEST, "abc"), _held("b"))
    assert next_instant(record) == 75  # The hold of b ends at 100, less clocks and the time to accept.
    record = _after(record, TimePassed(), now=75)
    assert _calls(record) == ["reject a", "reject c", "choose b"]
    record = _after(record, Chosen("b"), _accepted("b", refusal("b")), now=80)
    assert final_refusal(record).unanswered == ("a", "c")


def test_nobody_is_asked_any_more_when_no_time_is_left_to_grant_the_lease() -> None:
    record = _after(_begun(Mode.IN_TURN, "abc", now=100), Chosen("a"), now=100)
    assert next_instant(record) == ANSWER_BY - RULES.accept_time
    record = _after(record, TimePassed(), now=180)

    assert (record.stage, _calls(record)) == (Stage.REFUSED, ["reject a"])
    assert (final_refusal(record).unanswered, final_refusal(record).not_asked) == (("a",), ("b", "c"))
    assert final_refusal(record).message.endswith("c: was not asked, as there was no time left")


def test_an_ask_that_comes_too_late_is_refused_at_once() -> None:
    record = _begun(Mode.BEST, now=180)

    assert (record.stage, record.is_over, final_refusal(record).not_asked) == (Stage.REFUSED, True, ("a", "b"))


def test_a_hold_that_is_about_to_end_is_not_accepted_any_more() -> None:
    record = _after(_begun(Mode.BEST), _held("a"), _held("b", bid("b", held_until=60)))
    assert _calls(record) == ["choose a/b"]
    record = _after(record, TimePassed(), now=55)

    assert _calls(record) == ["reject b", "choose a"]
    assert record.attempts[1].refusal is not None
    assert record.attempts[1].refusal.reason is FederationReason.EXPIRED


def test_bids_that_nobody_chose_are_given_back_at_the_deadline() -> None:
    late = 10_000
    record = _after(_begun(Mode.BEST), *(_held(name, bid(name, held_until=late)) for name in "ab"))
    record = _after(record, TimePassed(), now=ANSWER_BY)

    assert (record.stage, _calls(record)) == (Stage.REFUSED, ["reject a", "reject b"])
    assert next_instant(record) == late + RULES.clock_difference


# -- loops -----------------------------------------------------------------------------------------------


def test_an_ask_that_has_passed_the_gateway_is_refused() -> None:
    found = begin(ask(path=("north", "gateway", "south")), [Candidate("a")], Mode.BEST, RULES, 0)

    message = "gateway has passed this ask on already: north > gateway > south"
    assert found == Refusal("gateway", RefusalReason.LOOP, message)


def test_an_ask_that_was_passed_on_too_often_is_refused() -> None:
    path = ("a", "b", "c", "d")
    assert isinstance(begin(ask(path=path), [Candidate("x")], Mode.BEST, RULES, 0), Negotiation)
    found = begin(ask(path=(*path, "e")), [Candidate("x")], Mode.BEST, RULES, 0)
    assert isinstance(found, Refusal)
    assert found.reason is RefusalReason.DEPTH
    assert "passed on 5 times, which is more than 4" in found.message


def test_members_on_the_path_are_not_asked() -> None:
    record = begin(ask(path=("b",)), [Candidate(name) for name in ("a", "b", "gateway")], Mode.IN_TURN, RULES, 0)
    assert isinstance(record, Negotiation)
    assert _calls(record) == ["choose a"]
    record = _after(record, Chosen("a"), _held("a", refusal("a")))

    assert [(each.member, each.reason.value) for each in final_refusal(record).refusals] == [
        ("b", "loop"), ("gateway", "loop"), ("a", "capacity"),
    ]  # fmt: skip


# -- the life of the lease -------------------------------------------------------------------------------


def _placed() -> Negotiation:
    return _after(_begun(Mode.IN_TURN), Chosen("a"), _held("a"), _accepted("a"))


def test_a_lease_is_changed_at_its_member() -> None:
    record = _placed()
    longer = replace(record.ask.terms, duration=900)
    record = _after(record, ChangeWanted(longer))
    (call,) = due(record)
    assert (record.stage, _calls(record)) == (Stage.CHANGING, ["change a"])
    assert isinstance(call, Call)
    assert call.ask is not None
    assert (call.ask.terms.duration, call.ask.ask_id) == (900, call.lease_id)
    assert _after(record, Answered("a", Verb.CHANGE, SILENCE)) == record
    changed = _after(record, Answered("a", Verb.CHANGE, replace(bid("a"), end=START + 900)))
    assert (changed.stage, changed.ask.terms) == (Stage.PLACED, longer)
    assert changed.placed is not None
    assert changed.placed.bid is not None
    assert changed.placed.bid.end == START + 900
    other = _after(record, Answered("a", Verb.CHANGE, replace(bid("a"), end=START + 800)))
    assert other.change_refusal is not None
    assert (other.ask, other.change_refusal.reason) == (_placed().ask, FederationReason.CONTRADICTORY)
    refused = _after(record, Answered("a", Verb.CHANGE, refusal("a")))
    assert (refused.stage, refused.ask, refused.change_refusal) == (Stage.PLACED, _placed().ask, refusal("a"))


def test_a_lease_ends_when_its_member_says_so() -> None:
    record = _after(_placed(), EndWanted())
    assert (record.stage, _calls(record)) == (Stage.ENDING, ["end a"])
    busy = Answered("a", Verb.END, Refusal("a", RefusalReason.BUSY, "an operation is in progress"))
    assert _after(record, busy, Answered("a", Verb.END, SILENCE)) == record
    assert _after(record, Answered("a", Verb.END, Released())).stage is Stage.ENDED
    assert _after(record, EndWanted()) == record


def test_what_is_withdrawn_while_it_is_negotiated_is_given_back_everywhere() -> None:
    record = _after(_begun(Mode.BEST, "abc"), _held("a"), _held("b"), _held("c", SILENCE), Chosen("a"), EndWanted())
    assert (record.stage, _calls(record)) == (Stage.ENDING, ["end a", "reject b", "reject c"])
    record = _after(record, Answered("a", Verb.END, Released()))
    assert (record.stage, record.is_over) == (Stage.ENDED, False)
    assert _after(record, *(Answered(name, Verb.REJECT, Released()) for name in "bc")).is_over


@pytest.mark.parametrize(
    ("state", "stage"),
    [(LeaseState.ACTIVE, Stage.PLACED), (LeaseState.DONE, Stage.ENDED), (LeaseState.FAILED, Stage.LOST)],
)
def test_the_end_of_a_lease_follows_from_what_its_member_tells(state: LeaseState, stage: Stage) -> None:
    told = MemberTransition(7, lease_id_at("a", "1"), 1_500, state, "so it is")
    other = replace(told, lease_id="another")

    assert _after(_placed(), Reported("a", told)).stage is stage
    assert _after(_placed(), Reported("a", other), Reported("b", told)).stage is Stage.PLACED


@pytest.mark.parametrize("verb", [Verb.CHANGE, Verb.SHOW])
def test_a_lease_that_its_member_does_not_know_is_lost(verb: Verb) -> None:
    unknown = Refusal("a", FederationReason.UNKNOWN, "there is no such lease")
    record = _placed()
    record = _after(record, ChangeWanted(record.ask.terms)) if verb is Verb.CHANGE else record
    record = _after(record, Answered("a", verb, unknown))

    assert (record.stage, record.is_over, record.final_reason) == (Stage.LOST, True, "a does not know it any more")


def test_a_member_that_does_not_answer_has_not_lost_the_lease() -> None:
    assert _after(_placed(), Answered("a", Verb.SHOW, SILENCE)).stage is Stage.PLACED


# -- what cannot happen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Answered("x", Verb.HOLD, SILENCE), "answered: 'x' was not asked"),
        (Chosen("a"), "chosen: 'a' cannot be chosen now; choose one of: none, wait for answers"),
        (ChangeWanted(ask().terms), "change: the lease is holding; only one that is placed can be changed"),
    ],
)
def test_events_that_cannot_happen_are_refused(event: Event, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _after(_begun(Mode.BEST), event)


def test_a_change_keeps_the_id() -> None:
    with pytest.raises(InvalidValueError, match="terms.lease_id: must be 1, not 2"):
        _after(_placed(), ChangeWanted(replace(ask().terms, lease_id="2")))


@pytest.mark.parametrize(
    ("names", "message"),
    [("", "candidates: there are none; give at least one member"), ("aa", "candidates: a, a: give each member a name")],
)
def test_members_have_names_of_their_own(names: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _begun(Mode.BEST, names)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"name": ""}, "name: must not be empty"),
        ({"most_passes": -1}, "most_passes: must be at least 0, not -1"),
        ({"hold_time": 35}, r"hold_time: must be more than accept_time and clock_difference together, 30 \+ 5, not 35"),
    ],
)
def test_rules_that_leave_no_time_are_refused(rules: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Rules(**{"name": "gateway", **rules})  # type: ignore[arg-type]


# -- killed at every boundary ----------------------------------------------------------------------------


def _run(mode: Mode, killed_at: int | None) -> tuple[Stage, list[str], int]:
    """Run a negotiation that begins, is placed, changed and ended, and let the gateway be killed once.

    :param killed_at: number of the boundary: before a record is written, before a call is made, or before its answer is
        taken; None to run it through
    :return: the last stage but the end, the members that have granted a lease then, and the number of boundaries
    """
    members = {
        "a": ScriptedMember("a", Conduct.FULL),
        "b": ScriptedMember("b", Conduct.DEARER),
        "c": ScriptedMember("c"),
        "d": ScriptedMember("d"),
    }
    written = _begun(mode, "abcd", cannot_hold="d")
    boundary = 0

    def is_killed() -> bool:
        nonlocal boundary
        boundary += 1
        return boundary - 1 == killed_at

    def settle(record: Negotiation) -> Negotiation:
        while todo := due(record):
            each = todo[0]
            if isinstance(each, Choose):
                event: Event = Chosen(each.among[0])
            else:
                if is_killed():
                    continue
                event = Answered(each.member, each.verb, members[each.member].answer(each, 0))
                if is_killed():
                    continue
            following = advance(record, event, 0)
            if is_killed():
                continue
            record = following
        return record

    written = settle(written)
    stage, granted = written.stage, [name for name, member in members.items() if member.granted]
    written = settle(_after(written, ChangeWanted(written.ask.terms)))
    assert written.stage is Stage.PLACED
    written = settle(_after(written, EndWanted()))
    assert written.is_over
    assert not any(member.held or member.granted for member in members.values())
    return stage, granted, boundary


@pytest.mark.parametrize("mode", Mode)
def test_a_gateway_that_is_killed_at_any_boundary_finishes_what_it_began(mode: Mode) -> None:
    stage, granted, boundaries = _run(mode, None)
    assert (stage, granted) == (Stage.PLACED, ["c"])
    assert boundaries > 20

    for killed_at in range(boundaries):
        assert _run(mode, killed_at)[:2] == (stage, granted), killed_at


@pytest.mark.parametrize("mode", Mode)
def test_a_member_with_a_refusal_is_not_asked(mode: Mode) -> None:
    refused = Refusal("a", RefusalReason.PROJECT, "no")
    record = begin(ask(), [Candidate("a", refusal=refused), Candidate("b")], mode, RULES, 0)
    assert isinstance(record, Negotiation)
    assert _calls(record) == (["choose b"] if mode is Mode.IN_TURN else ["hold b"])
    nobody = begin(ask(), [Candidate("a", refusal=refused)], mode, RULES, 0)
    assert isinstance(nobody, Negotiation)
    assert (nobody.stage, nobody.is_over, _calls(nobody)) == (Stage.REFUSED, True, [])
    assert final_refusal(nobody).refusals == (refused,)


@pytest.mark.parametrize(("reason", "is_closed"), [(RefusalReason.POLICY, True), (FederationReason.OTHER, False)])
def test_what_a_member_refused_and_does_not_let_end_is_somebody_elses(
    reason: RefusalReason | FederationReason, is_closed: bool
) -> None:
    record = _after(_begun(Mode.IN_TURN, "a", cannot_hold="a"), Chosen("a"))
    record = _after(record, Answered("a", Verb.SUBMIT, Refusal("a", RefusalReason.ID_TAKEN, "no")))
    assert (record.stage, _calls(record)) == (Stage.REFUSED, ["end a"])
    record = _after(record, Answered("a", Verb.END, Refusal("a", reason, "no")))
    assert _calls(record) == ([] if is_closed else ["end a"])


def test_a_granted_lease_that_its_member_does_not_let_end_is_tried_again() -> None:
    record = _after(_begun(Mode.IN_TURN, "a", cannot_hold="a"), Chosen("a"))
    record = _after(record, Answered("a", Verb.SUBMIT, bid("a", held_until=None)), EndWanted())
    record = _after(record, Answered("a", Verb.END, Refusal("a", RefusalReason.POLICY, "no")))
    assert (record.stage, _calls(record)) == (Stage.ENDING, ["end a"])
