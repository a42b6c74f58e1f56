"""Requests and transactions of a site: what is due, the block, what is due because of it, and one write."""

from __future__ import annotations

import time
from typing import Any

import pytest

from lease_scheduler.model.errors import EngineUnavailableError, InvalidValueError, RefusedError
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.messages import Message
from lease_scheduler.service.core.terms import build_terms
from tests.functional.lease_document import lease_document


@pytest.fixture
def steps(core: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The instants at which the engine has taken a step."""
    taken: list[int] = []
    step = core.site.engine.step

    def count() -> None:
        taken.append(core.site.work.now)
        step()

    monkeypatch.setattr(core.site.engine, "step", count)
    return taken


def test_a_request_steps_before_and_after_the_block(core: Any, steps: list[int]) -> None:
    with core.site.request({}):
        assert len(steps) == 1
    assert len(steps) == 2


def test_an_inquiry_and_a_step_step_once(core: Any, steps: list[int]) -> None:
    with core.site.inquiry({}):
        pass
    assert len(steps) == 1
    core.site.step()
    assert len(steps) == 2


def test_a_block_that_settles_is_not_followed_by_another_step(core: Any, steps: list[int]) -> None:
    with core.site.request({}):
        core.site.settle()
    assert len(steps) == 2
    with core.site.request({}):
        pass
    assert len(steps) == 4, "the next one is"


def test_what_is_due_because_of_the_block_is_written_with_it(core: Any, store: Any) -> None:
    now = core.clock.now()
    asked = lease_document("asked for", "immediate", 2, duration=60)
    before = len(store.commits)
    with core.site.request({}):
        terms = build_terms(asked, core.site.pool(None), now)
        core.site.work.documents[asked["id"]] = terms.document
        core.site.engine.submit(terms.request)
        assert core.site.engine.lease(asked["id"]) is None, "nothing was decided yet"
    (changes,) = store.commits[before:]
    assert changes.leases[asked["id"]].holdings[0].start == now
    assert [intent.lease_id for intent in changes.begun] == [asked["id"]]


def test_a_refusal_is_told_in_plain_words_and_nothing_follows(core: Any, store: Any, steps: list[int]) -> None:
    before = len(store.commits)
    with pytest.raises(RefusedError) as caught, core.site.request({}):
        raise InvalidValueError("start", "is wrong")
    assert (caught.value.code, caught.value.field) == (400, "start")
    assert len(steps) == 1
    assert len(store.commits) == before
    assert not core.site.is_broken


def test_what_was_due_is_written_although_the_block_refuses(core: Any, store: Any) -> None:
    lease_id = core.ask()
    core.clock.instant = core.lease(lease_id).holdings[0].start
    with pytest.raises(RefusedError), core.site.request({}):
        raise RefusedError(409, "no")
    assert store.commits[-1].leases[lease_id].state is LeaseState.READY


def test_a_request_that_waited_for_too_long_does_nothing(core: Any, steps: list[int]) -> None:
    with (
        pytest.raises(EngineUnavailableError, match="waited for too long"),
        core.site.request({"expires": time.time() - 1}),
    ):
        pytest.fail("the block was run")
    assert not steps
    with core.site.request({"expires": time.time() + 60}):
        pass
    assert steps


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyboardInterrupt()])
def test_an_error_that_is_no_refusal_breaks_the_engine(core: Any, error: BaseException) -> None:
    expected = EngineUnavailableError if isinstance(error, Exception) else KeyboardInterrupt
    with pytest.raises(expected), core.site.request({}):
        raise error
    assert core.site.is_broken
    assert core.broken == 1
    with pytest.raises(EngineUnavailableError, match="stopping"):
        core.site.step()


def test_what_cannot_be_written_breaks_the_engine(core: Any, store: Any) -> None:
    store.failure = OSError("the disk")
    with pytest.raises(EngineUnavailableError, match="could not be written"), core.site.transaction():
        core.site.work.notify(Message("anything", {}))
    assert core.site.is_broken
    assert core.site.problem() == "the engine builds its plan anew"


def test_a_clock_that_is_set_back_does_not_take_the_plan_along(core: Any) -> None:
    now = core.clock.now()
    core.pass_to(now + 100)
    core.pass_to(now + 50)
    assert core.site.work.now == now + 100


def test_another_engine_goes_on_with_what_was_written(core: Any, lead: Any) -> None:
    lease_id = core.ask()
    core.engine.close()
    again = lead()
    assert again.lease(lease_id) == core.lease(lease_id)
    assert again.site.records.hosts == core.site.records.hosts
    with pytest.raises(RefusedError, match="Not enough hosts"):
        again.ask("reservation", 2)


def test_a_lease_is_created_in_one_transaction(core: Any, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    transaction = core.site._transaction

    def count(*arguments: Any, **options: Any) -> Any:
        begun.append(1)
        return transaction(*arguments, **options)

    monkeypatch.setattr(core.site, "_transaction", count)
    before = len(store.commits)
    core.ask()
    assert len(begun) == 1
    assert len(store.commits) == before + 1


def test_a_lease_that_is_asked_for_again_is_there_once(core: Any) -> None:
    now = core.clock.now()
    document = lease_document("twice", "reservation", 1, start=now + 60, end=now + 120)
    first = core.leases.create({}, document)
    assert core.leases.create({}, document) == first
    assert len(core.site.engine.live_leases()) == 1
    core.leases.delete({}, first["lease_id"], "")
    assert core.leases.create({}, document) == first, "it is over, and stays so"
    assert not core.site.engine.live_leases()
