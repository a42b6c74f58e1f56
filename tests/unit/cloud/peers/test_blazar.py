"""A site with Blazar as a member: one lease for each id, whatever is lost or late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import openstack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.cloud.peers.blazar import BlazarMember
from lease_scheduler.federation.answers import Answer, Bid, FederationReason, Reason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Events, MemberDescription, MemberTransition, Verb
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from tests.unit.cloud.peers.fake_blazar import URL, FakeBlazar

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")

_NOW = 1_800_000_000
_SIZE = Resources({VCPU: 4, MEMORY_MB: 512})


@pytest.fixture
def site() -> FakeBlazar:
    return FakeBlazar(_NOW)


def _member(site: FakeBlazar) -> BlazarMember:
    login: dict[str, Any] = {"auth_type": "admin_token", "auth": {"endpoint": URL, "token": "anything"}}
    connection = openstack.connect(
        load_yaml_config=False, load_envvars=False, reservation_endpoint_override=URL, **login
    )
    connection.session.session.mount("http://", site)
    return BlazarMember("plain", connection, clock=lambda: site.now)


@pytest.fixture
def member(site: FakeBlazar) -> BlazarMember:
    return _member(site)


def _ask(count: int = 1, **terms: Any) -> Ask:
    values: dict[str, Any] = {"start": _NOW + 3_600, "duration": 7_200, **terms}
    asked = LeaseRequest(str(uuid4()), LeaseKind.RESERVATION, (NodeSet(count, _SIZE),), _NOW, **values)
    return Ask(asked, _NOW + 60)


def _reason(answer: Answer | MemberTransition) -> Reason:
    assert isinstance(answer, Refusal), answer
    return answer.reason


def test_it_says_what_it_cannot_do(site: FakeBlazar, member: BlazarMember) -> None:
    found = member.describe()
    assert found == MemberDescription(
        Resources({VCPU: 16, MEMORY_MB: 2_048, DISK_GB: 100}),
        frozenset({Verb.SUBMIT, Verb.CHANGE, Verb.END, Verb.SHOW, Verb.EVENTS}),
    )
    assert not found.can_hold
    ask = _ask()
    answers = [member.quote(ask), member.hold(ask, _NOW + 60), member.accept("a"), member.reject("a")]
    assert [_reason(each) for each in answers] == [FederationReason.UNSUPPORTED] * 4


def test_an_answer_that_was_lost_leaves_one_lease(site: FakeBlazar, member: BlazarMember) -> None:
    ask, site.lost = _ask(), 1
    assert member.submit(ask) == Unanswered()
    assert isinstance(member.submit(ask), Bid)
    assert len(site.leases) == 1


def test_of_two_leases_with_one_id_the_older_one_is_kept(site: FakeBlazar, member: BlazarMember) -> None:
    ask, site.late = _ask(), []
    assert member.submit(ask) == Unanswered()
    waiting, site.late = site.late, None
    first = member.submit(ask)
    (kept,) = site.leases
    site.now += 60
    site.late = waiting
    site.deliver()
    assert len(site.leases) == 2
    assert isinstance(member.show(ask.ask_id), MemberTransition)
    assert list(site.leases) == [kept]
    assert member.submit(ask) == first


def test_a_lease_that_arrives_after_its_end_is_ended_when_it_is_seen(site: FakeBlazar, member: BlazarMember) -> None:
    ask, site.late = _ask(), []
    assert member.submit(ask) == Unanswered()
    assert member.end(ask.ask_id) == Released()
    site.deliver()
    assert len(site.leases) == 1
    assert isinstance(member.events(0), Events)
    assert site.leases == {}
    assert _reason(member.submit(ask)) is RefusalReason.ID_TAKEN


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["submit", "lost", "late", "deliver", "end", "show", "events"]), max_size=9))
def test_there_are_never_two_leases_and_none_after_the_end(steps: list[str]) -> None:
    site = FakeBlazar(_NOW, places=10)
    member, ask, waiting, has_ended = _member(site), _ask(), list[dict[str, Any]](), False
    for step in steps:
        site.now += 1
        match step:
            case "submit" | "lost" | "late":
                site.lost, site.late = int(step == "lost"), [] if step == "late" else None
                answer = member.submit(ask)
                assert not (has_ended and isinstance(answer, Bid))
                waiting += site.late or []
                site.late, site.lost = None, 0
            case "deliver":
                site.late, waiting = waiting, []
                site.deliver()
            case "end":
                assert member.end(ask.ask_id) == Released()
                has_ended = True
            case "show":
                member.show(ask.ask_id)
            case "events":
                member.events(0)
    site.late = waiting
    site.deliver()
    member.events(0)
    assert len(site.leases) <= (0 if has_ended else 1)


def test_leases_of_others_are_left_alone(site: FakeBlazar, member: BlazarMember) -> None:
    """Also two with the name of one id, as long as nobody has asked about it here."""
    for name in ("training", "training", str(uuid4())):
        body = {"name": name, "start_date": "now", "end_date": "2030-01-01 00:00", "reservations": []}
        site.late = [body, body] if name != "training" else [body]
        site.deliver()
    assert isinstance(member.events(0), Events)
    assert len(site.leases) == 4
    assert not [call for call in site.calls if call[0] == "DELETE"]


def test_an_undecided_lease_is_no_answer(site: FakeBlazar, member: BlazarMember) -> None:
    ask = _ask()
    assert isinstance(member.submit(ask), Bid)
    (lease,) = site.leases.values()
    lease["status"] = "CREATING"
    assert member.submit(ask) == Unanswered()
    assert member.end(ask.ask_id) == Unanswered()
    lease["status"] = "PENDING"
    assert member.end(ask.ask_id) == Released()


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (500, "Not enough hosts available", RefusalReason.CAPACITY),
        (400, "Lease duration of 9 seconds must be less than", RefusalReason.LIMIT),
        (400, "Malformed parameter affinity", FederationReason.UNSUPPORTED),
        (403, "Policy doesn't allow it", RefusalReason.POLICY),
        (409, "vcpus cannot be updated", FederationReason.OTHER),
    ],
)
def test_refusals_have_reasons(
    site: FakeBlazar, member: BlazarMember, status: int, message: str, reason: Reason
) -> None:
    site.failure = (status, message)
    answer = member.submit(_ask())
    assert (_reason(answer), answer.message) == (reason, message)  # type: ignore[union-attr]


@pytest.mark.parametrize("status", [500, 503, 401])
def test_errors_of_the_site_are_no_refusal(site: FakeBlazar, member: BlazarMember, status: int) -> None:
    site.failure = (status, "Internal Server Error")
    assert member.submit(_ask()) == Unanswered()


def test_what_happened_between_two_looks_is_told_in_order(site: FakeBlazar, member: BlazarMember) -> None:
    ask = _ask()
    assert isinstance(member.submit(ask), Bid)
    found = member.events(0)
    assert isinstance(found, Events)
    assert [each.state for each in found.transitions] == [LeaseState.READY]
    (lease,) = site.leases.values()
    lease["status"] = "TERMINATED"
    later = member.events(found.latest)
    assert isinstance(later, Events)
    assert [(each.state, each.instant) for each in later.transitions] == [
        (LeaseState.ACTIVE, _NOW + 3_600),
        (LeaseState.DONE, _NOW + 3 * 3_600),
    ]
    assert member.show(ask.ask_id) == later.transitions[-1]
    site.leases.clear()
    assert member.events(later.latest) == Events(later.latest)


def test_a_lease_that_somebody_else_deletes_is_cancelled(site: FakeBlazar, member: BlazarMember) -> None:
    ask = _ask()
    assert isinstance(member.submit(ask), Bid)
    site.leases.clear()
    found = member.show(ask.ask_id)
    assert isinstance(found, MemberTransition)
    assert (found.state, found.reason) == (LeaseState.CANCELLED, "it is no longer there")
    assert _reason(member.change(ask.ask_id, ask.terms)) is FederationReason.EXPIRED


def test_a_new_process_has_lost_the_numbers(site: FakeBlazar, member: BlazarMember) -> None:
    ask = _ask()
    assert isinstance(member.submit(ask), Bid)
    found = _member(site).events(9)
    assert isinstance(found, Events)
    assert (found.since, found.transitions) == (1, ())


def test_a_change_that_is_refused_changes_nothing(site: FakeBlazar, member: BlazarMember) -> None:
    ask = _ask()
    first = member.submit(ask)
    longer = replace(ask.terms, duration=10_800)
    for _ in range(2):
        changed = member.change(ask.ask_id, longer)
        assert isinstance(changed, Bid)
        assert changed.end == _NOW + 3_600 + 10_800
    assert [call[0] for call in site.calls].count("PUT") == 1
    too_many = replace(longer, nodes=(NodeSet(3, _SIZE),))
    assert _reason(member.change(ask.ask_id, too_many)) is RefusalReason.CAPACITY
    assert member.change(ask.ask_id, longer) == changed
    assert member.change(ask.ask_id, ask.terms) == first
    site.leases.clear()
