from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.records.messages import Message
from lease_scheduler.service.requests.enforcement import ChangeProposal, Enforcement, Proposal

Document = Mapping[str, Any]


@dataclass
class Filter:
    """Gives the answers that a test sets, and records the calls."""

    follows: bool = True
    error: Exception | None = None
    ended: list[str] = field(default_factory=list)
    asked: int = 0

    def check_create(self, context: Document, proposal: Proposal) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        self.asked += 1

    def on_end(self, lease: Document) -> None:
        if self.error is not None:
            raise self.error
        self.ended.append(lease["id"])


def _proposal(lease_id: str = "a") -> Proposal:
    lease = {"id": lease_id, "project_id": "p", "user_id": "u", "reservations": []}
    return Proposal(lease, LeaseRequest(lease_id, LeaseKind.RESERVATION, (), 1, 10, start=1), 1)


class Kept(list[Message]):
    """What the store contains."""

    def tell(self, enforcement: Enforcement) -> None:
        for message in [each for each in self if enforcement.deliver(each)]:
            self.remove(message)
            enforcement.forget(message)


def test_a_filter_that_does_not_follow_costs_no_message() -> None:
    kept = Kept()
    enforcement = Enforcement([Filter(follows=False)], kept.append)
    with enforcement.creation({}, _proposal()):
        pass
    assert kept == []
    assert enforcement.is_on
    assert not enforcement.follows


def test_nothing_is_told_of_what_is_being_made_or_was_made() -> None:
    kept, made = Kept(), set[str]()
    usage_filter = Filter()
    enforcement = Enforcement([usage_filter], kept.append, made.__contains__)
    with enforcement.creation({}, _proposal()):
        kept.tell(enforcement)
        assert [message.event_type for message in kept] == ["enforcement.asked"]
        made.add("a")
    kept.tell(enforcement)
    assert (kept, usage_filter.ended) == ([], [])


def test_what_failed_after_it_was_allowed_is_told() -> None:
    kept = Kept()
    usage_filter = Filter()
    enforcement = Enforcement([usage_filter], kept.append, lambda lease_id: False)
    with pytest.raises(RefusedError), enforcement.creation({}, _proposal()):
        raise RefusedError(409, "no place")
    kept.tell(enforcement)
    assert (kept, usage_filter.ended) == ([], ["a"])


def test_who_refused_is_not_told_but_who_may_have_counted_is() -> None:
    kept = Kept()
    usage_filter = Filter(error=RefusedError(403, "no"))
    enforcement = Enforcement([usage_filter], kept.append, lambda lease_id: False)
    with pytest.raises(RefusedError), enforcement.creation({}, _proposal()):
        raise AssertionError("it was refused")
    usage_filter.error = None
    kept.tell(enforcement)
    assert (kept, usage_filter.ended) == ([], [])
    usage_filter.error = EngineUnavailableError("away")
    with pytest.raises(EngineUnavailableError), enforcement.creation({}, _proposal()):
        raise AssertionError("nobody allowed it")
    with pytest.raises(EngineUnavailableError):
        kept.tell(enforcement)
    usage_filter.error = None
    kept.tell(enforcement)
    assert (kept, usage_filter.ended) == ([], ["a"])


def test_who_comes_after_a_refusal_is_not_asked() -> None:
    kept, last = Kept(), Filter()
    enforcement = Enforcement([Filter(follows=False, error=RefusedError(403, "no")), last], kept.append)
    with pytest.raises(RefusedError), enforcement.creation({}, _proposal()):
        raise AssertionError("it was refused")
    assert (kept, last.asked) == ([], 0)


def test_requests_of_one_project_wait_for_each_other_as_long_as_their_clients_do() -> None:
    enforcement = Enforcement([Filter()])
    is_in, may_leave = threading.Event(), threading.Event()

    def occupy() -> None:
        with enforcement.one_at_a_time("a"):
            is_in.set()
            may_leave.wait(20)

    thread = threading.Thread(target=occupy)
    thread.start()
    assert is_in.wait(20)
    with enforcement.one_at_a_time("b", time.time() + 20):
        pass
    with pytest.raises(EngineUnavailableError), enforcement.one_at_a_time("a", time.time() + 0.05):
        raise AssertionError("somebody else is in")
    with pytest.raises(EngineUnavailableError), enforcement.one_at_a_time("a", time.time() - 1):
        raise AssertionError("nobody waits any more")
    may_leave.set()
    thread.join(20)
    with enforcement.one_at_a_time("a", time.time() + 20):
        pass
