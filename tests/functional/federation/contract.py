"""What every member of a federation does; see ``federation.members.Member``.

A class of tests inherits from the contract, and has a fixture ``site``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from lease_scheduler.federation.answers import Answer, Bid, FederationReason, Reason, Refusal, Released
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.members import Events, MemberDescription, MemberTransition, Verb
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU
from lease_scheduler.model.states import FINAL_STATES, TRANSITIONS, LeaseState
from tests.functional.federation.sites import HOSTS, HOUR, VCPUS, SiteBehind

UNHEARD_OF = "00000000-0000-4000-8000-000000000000"
#: Seconds of a hold that outlasts a test, and of one that a test waits for.
LONG, SHORT = 4 * HOUR, 300


def bid(answer: Answer) -> Bid:
    """Return an answer that must be a bid."""
    assert isinstance(answer, Bid), answer
    return answer


def reason(answer: Answer | MemberTransition) -> Reason:
    """Return the reason of an answer that must be a refusal."""
    assert isinstance(answer, Refusal), answer
    assert answer.message
    return answer.reason


def end(answer: Answer) -> int:
    """Return the end of an answer that must be a bid with a place."""
    found = bid(answer).end
    assert found is not None
    return found


def state(site: SiteBehind, lease_id: str) -> LeaseState:
    """Return the state of a lease at a member."""
    found = site.member.show(lease_id)
    assert isinstance(found, MemberTransition), found
    assert found.lease_id == lease_id
    return found.state


class TryingContract:
    """Members of which it is only known what they grant when they have granted it."""

    def test_submitted_twice_it_is_one_lease(self, site: SiteBehind) -> None:
        ask = site.ask()
        first = bid(site.member.submit(ask))
        assert (first.member, first.lease_id, first.start) == (site.member.name, ask.ask_id, ask.terms.start)
        assert ask.terms.start is not None
        assert first.end == ask.terms.start + ask.terms.duration
        assert bid(site.member.submit(ask)) == first
        assert reason(site.member.submit(site.ask(1, start=ask.terms.start))) is RefusalReason.CAPACITY

    def test_other_terms_with_a_taken_id_are_refused(self, site: SiteBehind) -> None:
        ask = site.ask(1)
        bid(site.member.submit(ask))
        other = replace(ask, terms=replace(ask.terms, duration=HOUR))
        assert reason(site.member.submit(other)) is RefusalReason.ID_TAKEN

    def test_what_ended_stays_ended_under_its_id(self, site: SiteBehind) -> None:
        ask = site.ask()
        bid(site.member.submit(ask))
        assert site.member.end(ask.ask_id) == Released()
        assert site.member.end(ask.ask_id) == Released()
        assert state(site, ask.ask_id) in FINAL_STATES
        assert isinstance(site.member.submit(ask), Refusal)
        assert isinstance(site.member.change(ask.ask_id, ask.terms), Refusal)
        # Its capacity is free again.
        bid(site.member.submit(site.ask(start=ask.terms.start)))

    def test_what_is_unknown_is_harmless(self, site: SiteBehind) -> None:
        ask = site.ask()
        assert site.member.end(UNHEARD_OF) == Released()
        assert reason(site.member.show(UNHEARD_OF)) is FederationReason.UNKNOWN
        assert reason(site.member.change(UNHEARD_OF, ask.terms)) is FederationReason.UNKNOWN

    def test_a_change_is_made_or_refused_as_a_whole(self, site: SiteBehind) -> None:
        ask = site.ask(1)
        first = end(site.member.submit(ask))
        longer = replace(ask.terms, duration=3 * HOUR)
        for _ in range(2):
            assert end(site.member.change(ask.ask_id, longer)) == first + HOUR
        more = replace(longer, nodes=(replace(longer.nodes[0], count=HOSTS),))
        bid(site.member.change(ask.ask_id, more))
        assert reason(site.member.submit(site.ask(1, start=ask.terms.start))) is RefusalReason.CAPACITY
        too_many = replace(longer, nodes=(replace(longer.nodes[0], count=HOSTS + 1),))
        assert isinstance(site.member.change(ask.ask_id, too_many), Refusal)
        assert end(site.member.change(ask.ask_id, more)) == first + HOUR

    def test_a_start_that_has_passed_by_its_own_clock_is_refused(self, site: SiteBehind) -> None:
        ask = site.ask(1, start=site.now() - 2 * HOUR, hours=4)
        assert reason(site.member.submit(ask)) is RefusalReason.PAST

    def test_a_clock_that_differs_by_seconds_moves_nothing(self, site: SiteBehind) -> None:
        for seconds in (-5, 5):
            ask = site.ask(1)
            early = replace(ask, terms=replace(ask.terms, submitted=ask.terms.submitted + seconds))
            assert bid(site.member.submit(early)).start == ask.terms.start


class SubmittingContract(TryingContract):
    """Members that grant leases without holds."""

    def test_it_describes_itself(self, site: SiteBehind) -> None:
        found = site.member.describe()
        assert isinstance(found, MemberDescription)
        assert found.capacity[VCPU] == HOSTS * VCPUS
        assert {Verb.SUBMIT, Verb.CHANGE, Verb.END, Verb.SHOW, Verb.QUOTE} <= found.verbs

    def test_a_quote_holds_nothing(self, site: SiteBehind) -> None:
        ask = site.ask()
        found = bid(site.member.quote(ask))
        assert (found.lease_id, found.start, found.held_until) == (ask.ask_id, ask.terms.start, None)
        assert bid(site.member.quote(site.ask(start=ask.terms.start))).start == ask.terms.start
        assert reason(site.member.show(ask.ask_id)) is FederationReason.UNKNOWN

    def test_refusals_have_codes_and_alternatives(self, site: SiteBehind) -> None:
        assert reason(site.member.submit(site.ask(HOSTS + 1))) is RefusalReason.SIZE
        ask = site.ask()
        bid(site.member.submit(ask))
        late = site.member.submit(site.ask(start=ask.terms.start))
        assert reason(late) is RefusalReason.CAPACITY
        assert isinstance(late, Refusal)
        for near in late.alternatives:
            assert near.member == site.member.name
            assert near.end > near.start
        assert late.alternatives

    def test_a_lease_of_each_kind_runs_and_ends(self, site: SiteBehind) -> None:
        now = site.now()
        leases = [
            site.ask(1, LeaseKind.IMMEDIATE),
            site.ask(1, LeaseKind.BEST_EFFORT),
            site.ask(1, LeaseKind.DEADLINE, start=now + 4 * HOUR, deadline=now + 48 * HOUR),
        ]
        for ask in leases:
            assert bid(site.member.submit(ask)).lease_id == ask.ask_id
        site.wait(lambda: state(site, leases[0].ask_id) is LeaseState.ACTIVE)
        for ask in leases:
            assert site.member.end(ask.ask_id) == Released()
        for ask in leases:
            site.wait(lambda lease_id=ask.ask_id: state(site, lease_id) in FINAL_STATES)  # type: ignore[misc]


class EventsContract:
    """Members that tell what happens to leases."""

    def test_transitions_come_in_order_and_without_gaps(self, site: SiteBehind) -> None:
        since = 0
        while isinstance(found := site.member.events(since), Events) and found.transitions:
            since = found.latest
        ask = site.ask(1, LeaseKind.IMMEDIATE)
        bid(site.member.submit(ask))
        site.wait(lambda: state(site, ask.ask_id) is LeaseState.ACTIVE)
        site.member.end(ask.ask_id)
        site.wait(lambda: state(site, ask.ask_id) in FINAL_STATES)
        told: list[MemberTransition] = []
        while isinstance(found := site.member.events(since), Events) and found.transitions:
            assert found.since == since
            told += found.transitions
            since = found.latest
        states = [each.state for each in told if each.lease_id == ask.ask_id]
        for before, after in pairwise(states):
            assert after in TRANSITIONS[before]
        assert LeaseState.ACTIVE in states
        assert states[-1] in FINAL_STATES
        latest = site.member.show(ask.ask_id)
        assert isinstance(latest, MemberTransition)
        (last,) = (each for each in told if each.lease_id == ask.ask_id and each.state in FINAL_STATES)
        assert last == replace(latest, sequence=last.sequence)
        assert latest.sequence in (0, last.sequence)

    def test_a_member_that_has_lost_transitions_says_so(self, site: SiteBehind) -> None:
        found = site.member.events(10**9)
        assert isinstance(found, Events)
        assert found.since < 10**9
        assert found.transitions == ()


class HoldingContract:
    """Members that hold leases until they are accepted."""

    def test_it_offers_holds(self, site: SiteBehind) -> None:
        found = site.member.describe()
        assert isinstance(found, MemberDescription)
        assert found.can_hold

    def test_a_hold_keeps_capacity(self, site: SiteBehind) -> None:
        ask, until = site.ask(), site.now() + LONG
        held = bid(site.member.hold(ask, until))
        assert (held.lease_id, held.start) == (ask.ask_id, ask.terms.start)
        assert held.held_until is not None
        assert held.held_until <= until
        assert reason(site.member.hold(site.ask(1, start=ask.terms.start), until)) is RefusalReason.CAPACITY
        assert reason(site.member.submit(site.ask(1, start=ask.terms.start))) is RefusalReason.CAPACITY

    def test_held_twice_it_is_one_hold(self, site: SiteBehind) -> None:
        ask, until = site.ask(1), site.now() + LONG
        first = bid(site.member.hold(ask, until))
        again = bid(site.member.hold(ask, until))
        assert replace(again, preempts=first.preempts) == first
        bid(site.member.submit(site.ask(1, start=ask.terms.start)))

    def test_accepted_twice_it_is_one_lease(self, site: SiteBehind) -> None:
        ask = site.ask(1)
        held = bid(site.member.hold(ask, site.now() + LONG))
        first = bid(site.member.accept(ask.ask_id))
        assert first == replace(held, held_until=None)
        assert bid(site.member.accept(ask.ask_id)) == first
        bid(site.member.submit(site.ask(1, start=ask.terms.start)))

    def test_a_hold_after_acceptance_does_not_hold_again(self, site: SiteBehind) -> None:
        ask, until = site.ask(), site.now() + LONG
        bid(site.member.hold(ask, until))
        bid(site.member.accept(ask.ask_id))
        assert bid(site.member.hold(ask, until)).held_until is None

    def test_what_is_rejected_is_free_again_and_stays_rejected(self, site: SiteBehind) -> None:
        ask, until = site.ask(), site.now() + LONG
        bid(site.member.hold(ask, until))
        for _ in range(2):
            assert site.member.reject(ask.ask_id) == Released()
        assert isinstance(site.member.accept(ask.ask_id), Refusal)
        assert isinstance(site.member.hold(ask, until), Refusal)
        bid(site.member.hold(site.ask(start=ask.terms.start), until))

    def test_a_hold_that_arrives_after_its_rejection_is_refused(self, site: SiteBehind) -> None:
        ask, until = site.ask(), site.now() + LONG
        assert site.member.reject(ask.ask_id) == Released()
        assert isinstance(site.member.hold(ask, until), Refusal)
        assert isinstance(site.member.submit(ask), Refusal)
        bid(site.member.hold(site.ask(start=ask.terms.start), until))

    def test_the_end_of_a_hold_gives_it_back(self, site: SiteBehind) -> None:
        ask = site.ask()
        bid(site.member.hold(ask, site.now() + LONG))
        assert site.member.end(ask.ask_id) == Released()
        bid(site.member.submit(site.ask(start=ask.terms.start)))

    def test_rejecting_and_accepting_what_is_unknown_is_harmless(self, site: SiteBehind) -> None:
        assert site.member.reject(UNHEARD_OF) == Released()
        assert reason(site.member.accept(UNHEARD_OF)) is FederationReason.UNKNOWN

    def test_an_accepted_lease_is_not_rejected(self, site: SiteBehind) -> None:
        ask = site.ask()
        bid(site.member.hold(ask, site.now() + LONG))
        bid(site.member.accept(ask.ask_id))
        assert isinstance(site.member.reject(ask.ask_id), Refusal)
        assert state(site, ask.ask_id) not in FINAL_STATES

    def test_a_hold_that_expired_cannot_be_accepted(self, site: SiteBehind) -> None:
        ask = site.ask()
        held = bid(site.member.hold(ask, site.now() + SHORT))
        assert held.held_until is not None
        site.wait(lambda: state(site, ask.ask_id) in FINAL_STATES)
        assert site.now() >= held.held_until
        assert reason(site.member.accept(ask.ask_id)) is FederationReason.EXPIRED
        bid(site.member.submit(site.ask(start=ask.terms.start)))

    def test_a_hold_that_would_have_ended_is_refused(self, site: SiteBehind) -> None:
        ask = site.ask()
        assert reason(site.member.hold(ask, site.now() - 30)) is FederationReason.EXPIRED
        bid(site.member.submit(site.ask(start=ask.terms.start)))

    def test_leases_that_start_at_once_are_held(self, site: SiteBehind) -> None:
        ask = site.ask(HOSTS, LeaseKind.IMMEDIATE)
        bid(site.member.hold(ask, site.now() + LONG))
        assert isinstance(site.member.submit(site.ask(1, LeaseKind.IMMEDIATE)), Refusal)
        bid(site.member.accept(ask.ask_id))
        site.wait(lambda: state(site, ask.ask_id) is LeaseState.ACTIVE)


class LateContract:
    """Members that remember which requests were given up before they arrived."""

    def test_a_request_that_arrives_after_its_end_is_refused(self, site: SiteBehind) -> None:
        """The client has given it up, when it had no answer in time."""
        ask = site.ask()
        assert site.member.end(ask.ask_id) == Released()
        assert isinstance(site.member.submit(ask), Refusal)
        assert reason(site.member.show(ask.ask_id)) is FederationReason.UNKNOWN
        bid(site.member.submit(site.ask(start=ask.terms.start)))


class MemberContract(SubmittingContract, EventsContract, HoldingContract, LateContract):
    """Members that can be asked for everything."""


def for_project(ask: Ask, project_id: str) -> Ask:
    """Return an ask for a lease that belongs to a project of the member."""
    return replace(ask, on_behalf_of=OnBehalfOf("tenants", "ada", project_id))


class ProjectsContract:
    """Members that grant leases for some of their projects."""

    def test_a_lease_belongs_to_the_project_that_it_is_for(self, site: SiteBehind) -> None:
        ask = for_project(site.ask(1), site.projects[0])
        assert bid(site.member.quote(ask)).lease_id == ask.ask_id
        first = bid(site.member.submit(ask))
        assert bid(site.member.submit(ask)) == first
        other = for_project(site.ask(1), site.projects[1])
        bid(site.member.hold(other, site.now() + LONG))
        bid(site.member.accept(other.ask_id))
        assert [site.owner(each.ask_id) for each in (ask, other)] == site.projects
        longer = replace(ask.terms, duration=3 * HOUR)
        assert end(site.member.change(ask.ask_id, longer)) == end(first) + HOUR
        assert site.owner(ask.ask_id) == site.projects[0]
        for each in (ask, other):
            assert site.member.end(each.ask_id) == Released()
            assert state(site, each.ask_id) in FINAL_STATES

    def test_its_transitions_are_told(self, site: SiteBehind) -> None:
        ask, since = for_project(site.ask(1), site.projects[0]), 0
        while isinstance(found := site.member.events(since), Events) and found.latest > since:
            since = found.latest
        bid(site.member.submit(ask))
        site.member.end(ask.ask_id)
        told = site.member.events(since)
        assert isinstance(told, Events)
        assert ask.ask_id in {each.lease_id for each in told.transitions}

    def test_a_project_that_it_does_not_lease_to_is_refused_and_nothing_is_held(self, site: SiteBehind) -> None:
        for project_id in (site.foreign, UNHEARD_OF):
            ask = for_project(site.ask(1), project_id)
            for answer in (
                site.member.quote(ask),
                site.member.hold(ask, site.now() + LONG),
                site.member.submit(ask),
            ):
                assert reason(answer) is RefusalReason.PROJECT
            assert reason(site.member.show(ask.ask_id)) is FederationReason.UNKNOWN

    def test_the_same_id_for_another_project_is_refused(self, site: SiteBehind) -> None:
        ask = for_project(site.ask(1), site.projects[0])
        bid(site.member.submit(ask))
        for other in (for_project(ask, site.projects[1]), replace(ask, on_behalf_of=None)):
            assert reason(site.member.submit(other)) is RefusalReason.ID_TAKEN
            assert reason(site.member.hold(other, site.now() + LONG)) is RefusalReason.ID_TAKEN
        assert site.owner(ask.ask_id) == site.projects[0]
        assert state(site, ask.ask_id) not in FINAL_STATES

    def test_a_hold_for_a_project_is_rejected(self, site: SiteBehind) -> None:
        ask = for_project(site.ask(), site.projects[0])
        bid(site.member.hold(ask, site.now() + LONG))
        assert site.member.reject(ask.ask_id) == Released()
        bid(site.member.submit(site.ask(start=ask.terms.start)))


class NoProjectsContract:
    """Members that grant leases for no project but that of the caller."""

    def test_a_lease_for_a_project_is_refused(self, site: SiteBehind) -> None:
        """It would belong to another project otherwise."""
        ask = for_project(site.ask(1), "physics")
        assert reason(site.member.submit(ask)) is RefusalReason.PROJECT
        assert reason(site.member.show(ask.ask_id)) is FederationReason.UNKNOWN
        held = site.member.hold(ask, site.now() + LONG)
        assert reason(held) in (RefusalReason.PROJECT, FederationReason.UNSUPPORTED)
        assert reason(site.member.show(ask.ask_id)) is FederationReason.UNKNOWN
