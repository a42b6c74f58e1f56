"""The instant before the end of a lease stays within the lease, whatever moves its start or end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.service.core.before_end import Span, default_instant, moved_instant
from lease_scheduler.service.requests.negotiations import changed
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

HOUR = 3_600
MINUTE = 60
BEFORE_END = "lease.event.before_end_lease"
STOPPED = "lease.event.before_end_lease.stop"

_SPANS = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)).map(lambda pair: Span(pair[0], sum(pair)))


@given(old=_SPANS, spans=st.lists(_SPANS, min_size=1), notice=st.integers(0, 10**6), part=st.floats(0, 1))
def test_an_instant_never_leaves_its_lease(old: Span, spans: list[Span], notice: int, part: float) -> None:
    instant = old.start + int(part * (old.end - old.start))
    for span in spans:
        instant = moved_instant(instant, old, span, notice)
        assert span.start <= instant <= span.end
        old = span


@given(spans=st.lists(_SPANS, min_size=2), notice=st.integers(1, 10**6))
def test_the_default_instant_stays_the_default(spans: list[Span], notice: int) -> None:
    instant = default_instant(spans[0], notice)
    assert instant is not None
    for old, new in pairwise(spans):
        instant = moved_instant(instant, old, new, notice)
    assert instant == default_instant(spans[-1], notice)


def test_an_instant_that_was_given_keeps_its_distance_to_the_end() -> None:
    assert moved_instant(3_000, Span(1_000, 3_500), Span(2_000, 9_000), HOUR) == 8_500
    assert moved_instant(3_000, Span(1_000, 3_500), Span(2_000, 2_100), HOUR) == 2_000


def test_an_instant_of_an_unknown_span_is_brought_into_the_new_one() -> None:
    assert [moved_instant(instant, None, Span(10, 20), HOUR) for instant in (5, 15, 25)] == [10, 15, 20]


def _instant(core: Any, lease_id: str) -> int:
    found: int = core.site.work.documents[lease_id].before_end
    return found


class TestChanges:
    """The reservation lasts four hours, so that its project is told after three (``minutes_before_end`` is 60)."""

    @pytest.fixture
    def start(self, core: Any) -> int:
        start: int = core.clock.now() + HOUR
        return start

    @pytest.fixture
    def lease_id(self, core: Any, start: int) -> str:
        found: str = core.ask(start=start, end=start + 4 * HOUR)
        assert _instant(core, found) == start + 3 * HOUR
        return found

    def test_a_lease_that_is_shortened_is_told_at_its_start(
        self, core: Any, store: Any, start: int, lease_id: str
    ) -> None:
        core.leases.update({}, lease_id, {"end": start + 20 * MINUTE})
        assert _instant(core, lease_id) == start
        core.pass_to(start - 1)
        assert not store.messages(BEFORE_END)
        core.pass_to(start)
        (message,) = store.messages(BEFORE_END)
        assert message.payload["lease_id"] == lease_id

    def test_and_as_before_when_it_is_extended_again(self, core: Any, start: int, lease_id: str) -> None:
        core.leases.update({}, lease_id, {"end": start + 20 * MINUTE})
        core.leases.update({}, lease_id, {"end": start + 4 * HOUR})
        assert _instant(core, lease_id) == start + 3 * HOUR

    def test_a_later_start(self, core: Any, start: int, lease_id: str) -> None:
        core.leases.update({}, lease_id, {"start": start + 210 * MINUTE})
        assert _instant(core, lease_id) == start + 210 * MINUTE

    def test_a_move(self, core: Any, start: int, lease_id: str) -> None:
        core.leases.update({}, lease_id, {"start": start + HOUR, "end": start + 5 * HOUR})
        assert _instant(core, lease_id) == start + 4 * HOUR

    def test_a_given_instant_counts_and_keeps_its_distance(self, core: Any, start: int, lease_id: str) -> None:
        core.leases.update({}, lease_id, {"end": start + 2 * HOUR, "before_end": start + 110 * MINUTE})
        assert _instant(core, lease_id) == start + 110 * MINUTE
        core.leases.update({}, lease_id, {"end": start + 3 * HOUR})
        assert _instant(core, lease_id) == start + 170 * MINUTE

    def test_other_names_and_hosts_change_nothing(self, core: Any, start: int, lease_id: str) -> None:
        before = core.site.work.documents[lease_id]
        host = core.site.engine.site.hosts[core.lease(lease_id).holdings[0].assignment[0]].name
        core.leases.update({}, lease_id, {"name": "another"})
        core.leases.move({"sees_site": True}, lease_id, [host])
        after = core.site.work.documents[lease_id]
        assert (after.before_end, after.before_end_done) == (before.before_end, before.before_end_done)

    def test_also_after_a_restart(self, core: Any, lead: Any, start: int, lease_id: str) -> None:
        core.engine.close()
        again = lead()
        again.leases.update({}, lease_id, {"end": start + 20 * MINUTE})
        assert _instant(again, lease_id) == start


def test_an_offer_with_other_terms(lead: Any) -> None:
    core = lead(quote_lifetime=30 * MINUTE)
    start = core.clock.now() + HOUR
    asked = lease_document("a lease", "reservation", start=start, end=start + 4 * HOUR)
    offered = core.leases.offer({}, asked)["lease_id"]
    core.offers.counter({}, offered, {"end": start + 20 * MINUTE})
    assert _instant(core, offered) == start


def test_an_offer_is_not_told_of(lead: Any, store: Any) -> None:
    core = lead(quote_lifetime=2 * HOUR)
    start = core.clock.now() + 5 * MINUTE
    core.leases.offer({}, lease_document("a lease", "reservation", start=start, end=start + HOUR))
    core.pass_to(start)
    assert not store.messages(BEFORE_END)


def test_a_counter_offer_keeps_the_distance_that_its_project_gave() -> None:
    asked = lease_document("a lease", "reservation", start=HOUR, end=3 * HOUR, before_end=2 * HOUR)
    other = changed(asked, Alternative("start", start=5 * HOUR, nodes=1, duration=2 * HOUR), 1)
    assert (other["start"], other["end"], other["before_end"]) == (5 * HOUR, 7 * HOUR, 6 * HOUR)


def test_a_deadline_lease_that_is_displaced_is_told_of_its_new_end(core: Any, store: Any) -> None:
    now = core.clock.now()
    lease_id = core.ask("deadline", 2, start=now + HOUR, duration=2 * HOUR, deadline=now + 20 * HOUR)
    planned: Lease = core.lease(lease_id)
    core.leases.update({}, lease_id, {"before_end": planned.holdings[-1].run_end - 10 * MINUTE})
    core.ask("reservation", 2, start=now + HOUR, end=now + 6 * HOUR)
    displaced = core.lease(lease_id)
    assert displaced.holdings[-1].run_end > planned.holdings[-1].run_end
    assert _instant(core, lease_id) == displaced.holdings[-1].run_end - 10 * MINUTE
    core.pass_to(planned.holdings[-1].run_end)
    assert not store.messages(BEFORE_END)


def test_a_lease_that_is_stopped_is_not_told_again(core: Any, store: Any) -> None:
    now = core.clock.now()
    lease_id = core.ask("deadline", start=now, duration=2 * HOUR, deadline=now + 20 * HOUR)
    assert wait_until(lambda: core.site.work.intents.has_reports, 10)
    core.site.step()
    core.leases.update({}, lease_id, {"before_end": now + HOUR})
    core.pass_to(now + HOUR)
    assert len(store.messages(BEFORE_END)) == 1
    core.leases.end({}, lease_id)
    core.pass_to(now + HOUR + 1)
    assert len(store.messages(BEFORE_END)) == 1
    assert not store.messages(STOPPED)
