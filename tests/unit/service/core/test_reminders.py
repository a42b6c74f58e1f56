"""Reminders are sent once, when they are due: before a lease starts, before it ends
(Blazar), and before it has to make room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.core.reminders import BEFORE_START, PREEMPTION_WARNING, Reminders, stopped_at
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

HOUR = 3_600
BEFORE_END = "lease.event.before_end_lease"


class _Occasion:
    """Is due at a given instant; each reminder is sent once."""

    def __init__(self, **dues: int) -> None:
        self.dues: dict[str, int] = dues
        self.sent: list[tuple[str, int]] = []

    def due(self, lease_id: str) -> int | None:
        return self.dues.get(lease_id)

    def remind(self, lease_id: str, now: int) -> None:
        del self.dues[lease_id]
        self.sent.append((lease_id, now))


def test_reminders_are_sent_in_time_and_once() -> None:
    occasion = _Occasion(b=20, a=10)
    reminders = Reminders(occasion, ["a", "b", "c"])
    reminders.send(9)
    assert (occasion.sent, reminders.next_due()) == ([], 10)
    reminders.send(10)
    reminders.send(10)
    assert (occasion.sent, reminders.next_due()) == ([("a", 10)], 20)
    reminders.send(50)
    assert (occasion.sent[1:], reminders.next_due()) == ([("b", 50)], None)


def test_what_was_noted_before_does_not_count_any_more() -> None:
    occasion = _Occasion(a=10, b=15)
    reminders = Reminders(occasion, occasion.dues)
    occasion.dues["a"] = 30
    reminders.note("a")
    del occasion.dues["b"]
    reminders.send(29)
    assert (occasion.sent, reminders.next_due()) == ([], 30)
    occasion.dues["a"] = 25
    reminders.note("a")
    assert reminders.next_due() == 25
    reminders.send(60)
    assert occasion.sent == [("a", 60)]


def _run(core: Any, lease_id: str) -> None:
    """Advance the clock to a lease's start, and have it run."""
    core.pass_to(core.lease(lease_id).holdings[0].start)
    assert wait_until(lambda: core.site.work.intents.has_reports, 10)
    core.site.step()
    assert core.lease(lease_id).active_since is not None


def test_a_project_is_told_of_the_end_once_also_after_a_restart(core: Any, store: Any, lead: Any) -> None:
    now = core.clock.now()
    lease_id = core.ask(before_end=now + HOUR + 600)
    _run(core, lease_id)
    assert core.site.next_due() == now + HOUR + 600
    core.pass_to(now + HOUR + 599)
    assert not store.messages(BEFORE_END)
    core.engine.close()
    again = lead()
    again.pass_to(now + HOUR + 600)
    (message,) = store.messages(BEFORE_END)
    assert message.payload["lease_id"] == lease_id
    again.engine.close()
    third = lead()
    third.pass_to(now + HOUR + 700)
    assert len(store.messages(BEFORE_END)) == 1


def test_another_end_is_told_of_again(core: Any, store: Any) -> None:
    now = core.clock.now()
    lease_id = core.ask(before_end=now + HOUR + 600)
    _run(core, lease_id)
    core.pass_to(now + HOUR + 600)
    core.leases.update({}, lease_id, {"end": now + 4 * HOUR})
    assert len(store.messages("lease.event.before_end_lease.stop")) == 1
    core.pass_to(now + 3 * HOUR + 599)
    assert len(store.messages(BEFORE_END)) == 1
    core.pass_to(now + 3 * HOUR + 600)
    assert len(store.messages(BEFORE_END)) == 2


def test_a_lease_that_waits_is_told_of_its_end_when_it_has_one(core: Any) -> None:
    now, work = core.clock.now(), core.site.work
    waiting = core.ask("best-effort", before_end=now + 60)
    running = core.lease(waiting)
    work.leases[waiting] = replace(running, state=LeaseState.QUEUED)
    core.site.before_end.send(now + 60)
    assert not work.changes.messages
    assert not work.documents[waiting].before_end_done
    work.leases[waiting] = running
    core.site.before_end.note(waiting)
    core.site.before_end.send(now + 60)
    assert [message.event_type for message in work.changes.messages] == [BEFORE_END]
    assert work.documents[waiting].before_end_done


@pytest.mark.parametrize("seconds", [0, 300])
def test_a_running_lease_that_has_to_make_room(lead: Any, store: Any, seconds: int) -> None:
    core = lead(preemption_warning=seconds)
    victim = core.ask("best-effort", 2, duration=4 * HOUR)
    _run(core, victim)
    assert stopped_at(core.lease(victim)) is None
    reserved = core.ask("reservation", 2)
    instant = stopped_at(core.lease(victim))
    assert instant is not None
    core.pass_to(instant - 301)
    assert not store.messages(PREEMPTION_WARNING)
    core.pass_to(instant - 300)
    core.pass_to(instant - 200)
    told = [each.payload for each in store.messages(PREEMPTION_WARNING)]
    assert [(each["lease_id"], each["preempted_at"]) for each in told] == ([(victim, instant)] if seconds else [])
    core.leases.delete({}, reserved, "")
    core.ask("reservation", 2, start=instant + 60, end=instant + HOUR)
    core.pass_to(core.clock.now() + 100)
    assert len(store.messages(PREEMPTION_WARNING)) == (2 if seconds else 0), "another preemption is news"


def test_a_project_is_told_of_the_start_once_also_after_a_restart(lead: Any, store: Any) -> None:
    core = lead(minutes_before_start=10)
    now = core.clock.now()
    lease_id = core.ask()
    assert core.site.next_due() == now + HOUR - 600
    core.pass_to(now + HOUR - 601)
    assert not store.messages(BEFORE_START)
    core.engine.close()
    again = lead(minutes_before_start=10)
    again.pass_to(now + HOUR - 600)
    (message,) = store.messages(BEFORE_START)
    assert (message.payload["lease_id"], message.payload["start"]) == (lease_id, now + HOUR)
    again.engine.close()
    third = lead(minutes_before_start=10)
    third.pass_to(now + HOUR - 500)
    _run(third, lease_id)
    assert len(store.messages(BEFORE_START)) == 1


def test_another_start_is_told_of_again(lead: Any, store: Any) -> None:
    core = lead(minutes_before_start=10)
    now = core.clock.now()
    lease_id = core.ask()
    core.pass_to(now + HOUR - 600)
    core.leases.update({}, lease_id, {"start": now + 2 * HOUR, "end": now + 3 * HOUR})
    core.pass_to(now + 2 * HOUR - 601)
    assert len(store.messages(BEFORE_START)) == 1
    core.pass_to(now + 2 * HOUR - 600)
    assert [each.payload["start"] for each in store.messages(BEFORE_START)] == [now + HOUR, now + 2 * HOUR]


def test_a_start_at_short_notice_is_told_of_at_once(lead: Any, store: Any) -> None:
    core = lead(minutes_before_start=10)
    now = core.clock.now()
    core.ask(start=now + 60, end=now + HOUR)
    assert [each.payload["start"] for each in store.messages(BEFORE_START)] == [now + 60]
    core.ask("best-effort")
    assert len(store.messages(BEFORE_START)) == 1, "what starts now is no news before that"


def test_an_offer_starts_only_if_it_is_accepted(lead: Any, store: Any) -> None:
    core = lead(minutes_before_start=10, quote_lifetime=HOUR)
    now = core.clock.now()
    offered = core.leases.offer({}, lease_document("a lease", "reservation", start=now + 300, end=now + HOUR))[
        "lease_id"
    ]
    core.pass_to(now + 60)
    assert not store.messages(BEFORE_START)
    core.offers.accept({"user_id": "user"}, offered)
    assert [each.payload["lease_id"] for each in store.messages(BEFORE_START)] == [offered]


def test_by_default_no_start_is_told_of(core: Any, store: Any) -> None:
    core.ask()
    core.pass_to(core.clock.now() + HOUR)
    assert not store.messages(BEFORE_START)
