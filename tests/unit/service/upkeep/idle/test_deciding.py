"""When a lease is idle, when its project is told, and when it is ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.meters.base import Activity
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions, Verdict, verdict

_OPTIONS = IdleOptions(interval=10, notify_after=30, end_after=20)
_IDLE, _USED, _UNKNOWN = Activity.IDLE, Activity.USED, Activity.UNKNOWN


def test_the_first_measurement_counts_nothing_as_there_is_none_before() -> None:
    assert verdict(None, _IDLE, 100, None, _OPTIONS) == Verdict(Idleness(100, 0, 100))
    assert verdict(None, _USED, 100, None, _OPTIONS) == verdict(None, _UNKNOWN, 100, None, _OPTIONS) == Verdict(None)


def test_the_project_is_told_once_and_the_lease_is_ended_after_that() -> None:
    known = Idleness(100, 20, 120)
    told = verdict(known, _IDLE, 130, 10, _OPTIONS)
    assert told == Verdict(Idleness(100, 30, 130, 130, 30), notifies=True)
    later = verdict(told.idleness, _IDLE, 140, 10, _OPTIONS)
    assert later == Verdict(Idleness(100, 40, 140, 130, 30))
    assert verdict(later.idleness, _IDLE, 150, 10, _OPTIONS) == Verdict(Idleness(100, 50, 150, 130, 30), ends=True)
    never = replace(_OPTIONS, end_after=0)
    assert not verdict(later.idleness, _IDLE, 150, 10, never).ends


def test_nobody_is_ended_in_the_measurement_that_tells_the_project() -> None:
    at_once = IdleOptions(interval=10, notify_after=1, end_after=1)
    found = verdict(Idleness(100, 10_000, 120), _IDLE, 130, 10, at_once)
    assert found.notifies
    assert not found.ends


def test_activity_resets_the_clock_and_is_told_if_the_project_was_told() -> None:
    assert verdict(Idleness(100, 20, 120), _USED, 130, 10, _OPTIONS) == Verdict(None)
    assert verdict(Idleness(100, 40, 120, 110, 30), _USED, 130, 10, _OPTIONS) == Verdict(None, is_used_again=True)


def test_what_is_not_known_never_counts() -> None:
    known = Idleness(100, 20, 120)
    assert verdict(known, _UNKNOWN, 130, 10, _OPTIONS) == Verdict(known)
    # The measurement before found nothing out, so it is not known how the time since then was used.
    assert verdict(known, _IDLE, 140, None, _OPTIONS) == Verdict(Idleness(100, 20, 140))
    # After a long time it begins anew, also for a lease whose project was told.
    told = Idleness(100, 40, 120, 110, 30)
    assert verdict(told, _IDLE, 120 + 12 * 10 + 1, None, _OPTIONS) == Verdict(Idleness(241, 0, 241))


def test_a_measurement_that_took_long_counts_for_two_intervals() -> None:
    assert verdict(Idleness(100, 0, 120), _IDLE, 220, 100, _OPTIONS).idleness == Idleness(100, 20, 220)


def test_a_clock_that_is_set_counts_nothing() -> None:
    known = Idleness(100, 10, 120)
    assert verdict(known, _IDLE, 50, 10, _OPTIONS).idleness == Idleness(50, 20, 50)
    assert verdict(known, _IDLE, 10**9, 10, _OPTIONS).idleness == Idleness(10**9, 0, 10**9)


@dataclass(frozen=True)
class _Round:
    """A measurement: what it finds, and what happened since the last one.

    :ivar passed: real seconds that have passed
    :ivar jump: seconds by which the clock was set
    :ivar restarted: whether another engine makes it
    """

    activity: Activity
    passed: int
    jump: int
    restarted: bool


_ROUNDS = st.lists(
    st.builds(
        _Round,
        st.sampled_from([_IDLE, _IDLE, _IDLE, _USED, _UNKNOWN]),
        st.integers(0, 40),
        st.one_of(st.just(0), st.integers(-1_000, 1_000)),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=60,
)


@given(_ROUNDS)
def test_nobody_is_told_or_ended_for_time_that_was_not_idle(rounds: list[_Round]) -> None:
    known: Idleness | None = None
    now, followed = 1_000_000, False
    # Real seconds between measurements that found it idle, since the last activity and since the project was told.
    idle, idle_since_told, told = 0, 0, False
    for each in rounds:
        now += each.passed + each.jump
        elapsed = each.passed if followed and not each.restarted else None
        if each.activity is _IDLE and elapsed is not None:
            idle += elapsed
            idle_since_told += elapsed
        if each.activity is _USED:
            idle, told = 0, False
        found = verdict(known, each.activity, now, elapsed, _OPTIONS)
        if found.notifies:
            assert not told
            assert each.activity is _IDLE
            assert idle >= _OPTIONS.notify_after
            told, idle_since_told = True, 0
        if found.ends:
            assert told
            assert each.activity is _IDLE
            assert idle_since_told >= _OPTIONS.end_after
        if found.idleness is None or found.idleness.told_at is None:
            told = False
        if found.idleness is not None:
            assert found.idleness.seconds <= idle
            assert found.idleness.since <= found.idleness.seen
        known, followed = found.idleness, each.activity is _IDLE


@given(st.integers(1, 200))
def test_a_lease_that_is_idle_throughout_is_told_and_ended_in_time(count: int) -> None:
    known: Idleness | None = None
    events = []
    for number in range(count):
        found = verdict(known, _IDLE, 1_000 + 10 * number, 10 if number else None, _OPTIONS)
        known = found.idleness
        events += ["notified"] * found.notifies + ["ended"] * found.ends
        if found.ends:
            break
    assert events == [*(["notified"] * (count > 3)), *(["ended"] * (count > 5))]
