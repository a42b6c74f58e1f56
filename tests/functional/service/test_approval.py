"""Leases that need approval: nothing that a tenant does makes one start that nobody has approved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.service.requests.approval_rules import NODES, ApprovalRules
from lease_scheduler.service.requests.approvals import Approvals
from lease_scheduler.service.requests.series import SeriesKeeper
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_RULES = ApprovalRules(frozenset(LeaseKind), {NODES: 4}, hold_time=10 * HOUR)
_PROJECT = "physics"
_APPROVER = {"user_id": "alan", "project_id": "operators"}
_LIMIT = 20.0
Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(rules)``: a service of two hosts. By default, more than four node-hours of a project need approval."""
    made: list[Service] = []

    def one(rules: ApprovalRules = _RULES, **options: Any) -> Service:
        made.append(Service(tmp_path, "free", {}, approval=rules, **options))
        return made[-1]

    yield one
    for service in made:
        service.close()


@pytest.fixture
def service(make: Make) -> Service:
    """A service with the default rules."""
    return make()


def _document(service: Service, hours: int, ahead: int = 1, count: int = 1, **said: Any) -> dict[str, Any]:
    start = service.clock.now() + ahead * HOUR
    return service.document(count, project_id=_PROJECT, start=start, end=start + hours * HOUR, **said)


def _made(service: Service, document: dict[str, Any]) -> str:
    return str(service.leases.create({}, document)["lease_id"])


def _large(service: Service, ahead: int = 1, **said: Any) -> str:
    """Ask for a lease of five node-hours, and return its id."""
    return _made(service, _document(service, 5, ahead, **said))


def _approval(service: Service, lease_id: str) -> tuple[str, str | None]:
    view = service.view(lease_id)
    return view["state"], view["approval"]


def _decide(service: Service, lease_id: str, *, approved: bool, reason: str = "") -> None:
    Approvals(service.site).decide(_APPROVER, lease_id, approved, reason)


def _refusal(function: Callable[..., Any], *arguments: Any, code: int = 409) -> str:
    with pytest.raises(RefusedError) as caught:
        function({}, *arguments)
    assert caught.value.code == code, caught.value
    return str(caught.value.message)


def _events(service: Service, lease_id: str) -> list[str]:
    messages = [message for _, message in service.site.store.waiting_messages()]
    return [each.event_type for each in messages if each.payload.get("lease_id") == lease_id]


def test_an_approved_lease_starts_and_its_history_says_who_approved_it(service: Service) -> None:
    lease_id = _large(service)
    assert _approval(service, lease_id) == ("ready", "awaiting")
    assert service.view(lease_id)["offered_until"] == service.view(lease_id)["start"]
    _decide(service, lease_id, approved=True, reason="for the paper")
    assert _approval(service, lease_id) == ("ready", "approved")
    rows = service.reader.history(lease_id)
    (row,) = [each for each in rows if each["reason"] == "approved: for the paper"]
    assert (row["user_id"], row["project_id"]) == ("alan", "operators")
    assert any("held for approval, as it is for more than 4 node-hours, until" in each["reason"] for each in rows)
    assert _events(service, lease_id) == ["lease.create", "lease.awaiting_approval", "lease.approved"]
    service.clock.jump(HOUR + 1)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)


def test_a_declined_lease_holds_nothing_and_its_project_is_told_why(service: Service) -> None:
    lease_id = _large(service, count=2)
    assert "Not enough hosts" in _refusal(service.leases.create, _document(service, 1))
    _decide(service, lease_id, approved=False, reason="too long")
    assert _approval(service, lease_id) == ("cancelled", "declined")
    assert service.view(lease_id)["reason"] == "declined: too long"
    assert service.view(lease_id)["holdings"] == []
    assert "lease.declined" in _events(service, lease_id)
    assert service.site.store.unaccepted_seconds(_PROJECT, 0) == 0
    _made(service, _document(service, 1, count=2))


@pytest.mark.parametrize("ahead", [5, 100], ids=["its start comes", "its time is over"])
def test_what_nobody_decides_on_is_over_even_if_the_clock_jumps_past_it(service: Service, ahead: int) -> None:
    lease_id = _large(service, ahead)
    service.clock.jump(1_000 * HOUR)
    assert "does not await approval" in _refusal(Approvals(service.site).decide, lease_id, True, "")
    assert _approval(service, lease_id) == ("cancelled", "expired")
    assert service.view(lease_id)["reason"] == "nobody approved it in time"
    assert service.view(lease_id)["started"] is None
    assert _events(service, lease_id)[-1] == "lease.declined"


def test_a_lease_still_awaits_approval_after_a_restart(service: Service) -> None:
    first, second = _large(service, 20), _large(service, 40)
    service.restart()
    assert "awaits approval" in _refusal(service.offers.accept, first)
    _decide(service, first, approved=True)
    assert _approval(service, first) == ("ready", "approved")
    service.engine.close()
    # It is over while no engine runs.
    service.clock.jump(12 * HOUR)
    service.lead()
    assert wait_until(service.is_in(second, "cancelled"), _LIMIT)
    assert _approval(service, second) == ("cancelled", "expired")
    assert _approval(service, first) == ("ready", "approved")


def test_of_two_decisions_at_once_one_counts(service: Service) -> None:
    lease_id = _large(service)

    def decide(approved: bool) -> int:
        try:
            _decide(service, lease_id, approved=approved)
        except RefusedError as error:
            return error.code
        return 200

    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(decide, [True, False, True, False]))
    assert sorted(codes) == [200, 409, 409, 409]
    approved = codes[0] == 200 or codes[2] == 200
    assert _approval(service, lease_id) == (("ready", "approved") if approved else ("cancelled", "declined"))


def test_its_project_cannot_answer_for_those_who_decide(service: Service) -> None:
    lease_id = _large(service)
    for answer in (service.offers.accept, service.offers.reject):
        assert _refusal(answer, lease_id) == (
            f"lease {lease_id} awaits approval; its project can cancel it, but neither accept nor reject it"
        )
    start = service.view(lease_id)["start"]
    for changes in ({"end": start + 6 * HOUR}, {"end": start + HOUR}, {"preemptible": True}):
        assert "awaits approval of its present terms" in _refusal(service.leases.update, lease_id, changes)
        assert "awaits approval" in _refusal(service.offers.counter, lease_id, changes)
        assert not service.quotes.quote_change({}, lease_id, changes)["granted"]
    service.leases.update({}, lease_id, {"name": "the same lease"})
    assert _approval(service, lease_id) == ("ready", "awaiting")
    service.leases.delete({}, lease_id, "")
    assert _approval(service, lease_id) == ("cancelled", "withdrawn")
    assert "lease.declined" not in _events(service, lease_id)


def test_a_lease_is_not_made_larger_step_by_step(service: Service) -> None:
    lease_id = _made(service, _document(service, 3))
    start = service.view(lease_id)["start"]
    assert service.view(lease_id)["approval"] is None
    service.leases.update({}, lease_id, {"end": start + 4 * HOUR})
    longer = {"end": start + 5 * HOUR}
    assert _refusal(service.leases.update, lease_id, longer) == (
        "with these terms, the lease needs approval (it is for more than 4 node-hours); ask for another lease"
    )
    quoted = service.quotes.quote_change({}, lease_id, longer)
    assert not quoted["granted"] and "needs approval" in quoted["reason"]
    reservation = service.view(lease_id)["reservations"][0]
    more = {"reservations": [{"id": reservation["id"], "amount": 2}]}
    assert "needs approval" in _refusal(service.leases.update, lease_id, more)
    # What has run counts, or a lease could be extended again and again.
    service.clock.jump(3 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    assert "needs approval" in _refusal(service.leases.update, lease_id, longer)


def test_an_approved_lease_may_shrink_but_neither_grow_nor_move(service: Service) -> None:
    lease_id = _large(service, count=2)
    _decide(service, lease_id, approved=True)
    start = service.view(lease_id)["start"]
    for changes in (
        {"end": start + 6 * HOUR},
        {"start": start + HOUR, "end": start + 6 * HOUR},
        {"start": start + 9 * HOUR, "end": start + 14 * HOUR},
    ):
        assert "needs approval" in _refusal(service.leases.update, lease_id, changes), changes
    service.leases.update({}, lease_id, {"end": start + 4 * HOUR})
    assert service.view(lease_id)["end"] == start + 4 * HOUR
    # Below the threshold, nobody would have to approve it.
    service.leases.update({}, lease_id, {"end": start + 2 * HOUR})
    service.leases.update({}, lease_id, {"start": start + HOUR, "end": start + 3 * HOUR})
    assert "needs approval" in _refusal(service.leases.update, lease_id, {"end": start + 4 * HOUR})


def test_a_large_lease_is_not_made_as_several_small_ones(service: Service) -> None:
    first, second = (_made(service, _document(service, 2, ahead)) for ahead in (1, 4))
    third = _made(service, _document(service, 1, 10))
    assert [service.view(each)["approval"] for each in (first, second, third)] == [None, None, "awaiting"]
    assert any("together with other leases of the project" in row["reason"] for row in service.reader.history(third))
    other = _made(service, _document(service, 4, 20) | {"project_id": "biology"})
    assert service.view(other)["approval"] is None
    # A lease that was approved leaves the others as they are.
    _decide(service, third, approved=True)
    service.leases.delete({}, first, "")
    assert service.view(_made(service, _document(service, 2, 30)))["approval"] is None


def test_each_lease_of_a_series_counts(service: Service) -> None:
    first = _document(service, 2, 10)
    keeper = SeriesKeeper(service.site, service.leases)
    starts = [first["start"] + day * 24 * HOUR for day in range(4)]
    series = {"id": str(uuid4()), "name": "weekly", "project_id": _PROJECT, "user_id": "ada", "rule": "FREQ=DAILY"}
    made = keeper.create({}, {**series, "starts": starts, "lease": first})["leases"]
    assert [service.view(each)["approval"] for each in made] == [None, None, "awaiting", "awaiting"]
    keeper.delete({}, series["id"])
    assert all(service.view(each)["state"] == "cancelled" for each in made)


@pytest.mark.parametrize("kind", ["best-effort", "immediate"])
def test_leases_that_cannot_wait_are_refused_where_they_need_approval(service: Service, kind: str) -> None:
    times = {"start": None, "end": None, "duration": 5 * HOUR}
    asked = service.document(1, project_id=_PROJECT) | {"kind": kind} | times
    message = _refusal(service.leases.create, asked)
    assert message == (
        f"the lease needs approval (it is for more than 4 node-hours), for which a {kind} lease cannot wait; "
        "ask for a reservation or deadline lease"
    )
    assert service.quotes.quote({}, asked)["reason"] == message
    _made(service, asked | {"id": str(uuid4()), "duration": HOUR})


def test_the_kind_of_a_lease_cannot_be_changed(service: Service) -> None:
    rules = ApprovalRules(frozenset({LeaseKind.RESERVATION}), {NODES: 4})
    service.site.options = replace(service.site.options, approval=rules)
    start = service.clock.now() + HOUR
    terms = {"end": None, "duration": 5 * HOUR, "deadline": start + 9 * HOUR, "start": start}
    lease_id = _made(service, service.document(1, project_id=_PROJECT) | {"kind": "deadline"} | terms)
    assert service.view(lease_id)["approval"] is None
    with pytest.raises(RefusedError):
        service.leases.update({}, lease_id, {"kind": "reservation", "deadline": None})
    assert service.view(lease_id)["kind"] == "deadline"


def test_a_lease_that_would_have_to_start_at_once_is_refused(service: Service) -> None:
    now = service.clock.now()
    document = service.document(1, project_id=_PROJECT, start=now, end=now + 5 * HOUR)
    assert "ask for a later start" in _refusal(service.leases.create, document)
    # Blazar's clients ask for a start that has just passed.
    assert "ask for a later start" in _refusal(service.leases.create, document | {"start": now - 5})


def test_holding_and_accepting_is_no_way_around_approval(service: Service) -> None:
    large = _document(service, 5)
    assert "ask for the lease itself" in _refusal(service.leases.offer, large)
    held = [service.leases.offer({}, _document(service, 2, ahead))["lease_id"] for ahead in (1, 4)]
    assert "ask for the lease itself" in _refusal(service.leases.offer, _document(service, 1, 10))
    start = service.view(held[0])["start"]
    assert "needs approval" in _refusal(service.offers.counter, held[0], {"end": start + 3 * HOUR})
    for each in held:
        service.offers.accept({}, each)
    assert [_approval(service, each) for each in held] == [("ready", None)] * 2


def test_an_offer_that_needs_approval_by_now_is_not_accepted(service: Service) -> None:
    held = service.leases.offer({}, _document(service, 3))["lease_id"]
    stricter = ApprovalRules(frozenset(LeaseKind), {NODES: 2})
    service.site.options = replace(service.site.options, approval=stricter)
    assert "needs approval" in _refusal(service.offers.accept, held)
    assert service.view(held)["offered_until"] is not None


def test_a_repeated_request_makes_no_second_lease_and_does_not_revive_a_declined_one(service: Service) -> None:
    document = _document(service, 5) | {"request_digest": "d"}
    lease_id = _made(service, document)
    assert _made(service, document) == lease_id
    assert _approval(service, lease_id) == ("ready", "awaiting")
    assert _events(service, lease_id).count("lease.awaiting_approval") == 1
    _decide(service, lease_id, approved=False)
    assert _made(service, document) == lease_id
    assert _approval(service, lease_id) == ("cancelled", "declined")


def test_a_project_has_only_so_many_leases_that_wait(make: Make) -> None:
    service = make(ApprovalRules(frozenset(LeaseKind), maximum_waiting=2, exempt=frozenset({"exempt"})))
    first = _made(service, _document(service, 1))
    assert "every reservation lease does" in " ".join(row["reason"] for row in service.reader.history(first))
    _made(service, _document(service, 1, 3))
    third = _document(service, 1, 5)
    assert "2 leases of the project await approval, and 2 may" in _refusal(service.leases.create, third, code=403)
    service.leases.delete({}, first, "")
    _made(service, third)
    assert service.view(_made(service, _document(service, 1, 7) | {"project_id": "exempt"}))["approval"] is None


def test_what_starts_far_ahead_needs_approval(make: Make) -> None:
    service = make(ApprovalRules(frozenset(LeaseKind), lead_time=10 * HOUR))
    near, far = _made(service, _document(service, 1, 9)), _made(service, _document(service, 1, 11))
    assert [service.view(each)["approval"] for each in (near, far)] == [None, "awaiting"]
    start = service.view(near)["start"]
    assert "it starts more than 10 h ahead" in _refusal(
        service.leases.update, near, {"start": start + 5 * HOUR, "end": start + 6 * HOUR}
    )
    service.leases.update({}, near, {"start": start - HOUR, "end": start})


def test_quotes_say_that_approval_would_be_needed(service: Service) -> None:
    assert service.quotes.quote({}, _document(service, 4))["approval"] is None
    quoted = service.quotes.quote({}, _document(service, 5))
    assert quoted["granted"] and quoted["approval"] == "it is for more than 4 node-hours"


def test_lists_find_what_awaits_approval(service: Service) -> None:
    waiting, other = _large(service), _made(service, _document(service, 1, 10))

    def found(**filters: Any) -> list[str]:
        return [each.lease_id for each in service.reader.lease_entries(filters, [])]

    assert found(state_in_words="awaiting-approval") == [waiting]
    assert found(state_in_words="ready") == [other]
    assert found(states=["ready"]) == [waiting, other]
    assert service.reader.lease_states(None) == {"awaiting-approval": 1, "ready": 1}
    assert [each["state"] for each in service.reader.calendar_leases([waiting])] == ["awaiting-approval"]
    _decide(service, waiting, approved=False)
    assert found(state_in_words="awaiting-approval") == []
