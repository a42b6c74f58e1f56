from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.lifetimes import Lifetime, LifetimeSampler, Threat, slot_count


def test_slots_are_counted_node_by_node() -> None:
    """Prediction section 9, 5."""
    assert [slot_count([4, 3, 1], size) for size in (1, 2, 4)] == [8, 3, 1]


@pytest.mark.parametrize(("free", "left"), [([2, 3], 0), ([1, 4], 1)])
def test_the_node_of_an_instance_decides_how_many_large_ones_fit(free: list[int], left: int) -> None:
    """Prediction section 9, 9: a one-core instance on the second or on the first of nodes with 2 and 4 cores."""
    assert slot_count(free, 4) == left


def test_the_youngest_is_preempted_first() -> None:
    """Prediction section 9, 6: on three slots, of instances since 0, 10 and 20, the last one goes first."""
    sampler = LifetimeSampler([3])
    for start in (0, 10, 20):
        sampler.sample(start)
        sampler.preemptible_started(start, 0, 1, start)
    for now, victim in ((30, 20), (31, 10), (32, 0)):
        sampler.preemptible_ended(victim)
        sampler.regular_started(f"regular-{now}", 0, 1, now, oldest_victim=victim)
    assert sorted(sampler.lifetimes(100), key=lambda each: each.start) == [
        Lifetime(0, 3, 32),
        Lifetime(10, 2, 21),
        Lifetime(20, 1, 10),
    ]


def test_with_all_as_a_threat_a_younger_instance_counts_too() -> None:
    older, everything = LifetimeSampler([2]), LifetimeSampler([2], threat=Threat.ALL)
    for sampler in (older, everything):
        sampler.sample(0)
        sampler.preemptible_started("a", 0, 1, 5)
        sampler.preemptible_started("b", 0, 1, 7)
    assert older.lifetimes(9) == [Lifetime(0, 2, 9)]
    assert everything.lifetimes(9) == [Lifetime(0, 2, 7)]


def test_a_full_cloud_has_no_samples() -> None:
    sampler = LifetimeSampler([2])
    sampler.regular_started("a", 0, 2, 0)
    sampler.sample(1)
    assert sampler.lifetimes(2) == []
    sampler.regular_ended("a")
    sampler.sample(3)
    assert sampler.lifetimes(4) == [Lifetime(3, 2, 1)]


def test_an_instance_moves_to_a_node_where_it_fits() -> None:
    sampler = LifetimeSampler([4, 4])
    sampler.sample(0)
    sampler.regular_started("whole node", 0, 4, 10)
    assert sampler.lifetimes(11) == [Lifetime(0, 8, 11)]
    sampler.regular_started("the other", 1, 4, 20)
    assert sampler.lifetimes(30) == [Lifetime(0, 8, 20)]


def test_an_instance_in_the_way_of_a_whole_node_is_preempted() -> None:
    """The instance would fit elsewhere, but there is no other whole node for the regular one."""
    sampler = LifetimeSampler([4, 4])
    sampler.regular_started("a", 1, 1, 0)
    sampler.sample(1)
    sampler.regular_started("whole node", 0, 4, 5)
    assert sampler.lifetimes(9) == [Lifetime(1, 7, 4)]


def test_a_younger_instance_is_preempted_instead_of_recorded_victims() -> None:
    """A victim since 0 left the second node; an instance since 5 on the first one would have gone instead."""
    sampler = LifetimeSampler([2, 2])
    sampler.regular_started("a", 0, 1, 0)
    sampler.preemptible_started("old", 1, 2, 0)
    sampler.sample(5)
    sampler.preemptible_ended("old")
    sampler.regular_started("b", 1, 1, 9, oldest_victim=0)
    assert sampler.lifetimes(20) == [Lifetime(5, 1, 4)]


def test_old_instances_are_forgotten() -> None:
    sampler = LifetimeSampler([2])
    for now in range(1000):
        sampler.sample(now)
    sampler.forget(990)
    assert [each.start for each in sampler.lifetimes(1000)] == list(range(990, 1000))


def test_a_size_of_0_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="size"):
        LifetimeSampler([1], 0)


@dataclass(frozen=True)
class _Recorded:
    """An event of a recording: an instance starts or ends."""

    now: float
    key: int
    is_start: bool
    is_regular: bool


def _recording(seed: int, cores: int) -> list[_Recorded]:
    """One-core instances on one node; the youngest preemptible one is the victim."""
    random = np.random.default_rng(seed)
    events: list[_Recorded] = []
    ends: list[tuple[float, int, bool]] = []
    running: dict[int, bool] = {}
    now = 0.0
    for key in range(400):
        now += float(random.exponential(10))
        while ends and ends[0][0] <= now:
            end, gone, is_regular = heapq.heappop(ends)
            if running.pop(gone, None) is not None:
                events.append(_Recorded(end, gone, False, is_regular))
        is_regular = bool(random.random() < 0.5)
        if len(running) == cores:
            victims = [each for each, regular in running.items() if not regular]
            if not is_regular or not victims:
                continue
            del running[victims[-1]]
            events.append(_Recorded(now, victims[-1], False, False))
        running[key] = is_regular
        events.append(_Recorded(now, key, True, is_regular))
        heapq.heappush(ends, (now + float(random.exponential(80)), key, is_regular))
    return events


@pytest.mark.parametrize("threat", list(Threat))
@pytest.mark.parametrize("seed", range(5))
def test_lifetimes_equal_those_by_definition(seed: int, threat: Threat) -> None:
    """Prediction A16: until regular and older instances, and one more, need more than the cores."""
    cores = 8
    events = _recording(seed, cores)
    instants = np.sort(np.random.default_rng(seed + 50).uniform(0, events[-1].now, 300)).tolist()
    sampler = LifetimeSampler([cores], threat=threat)
    upcoming = iter([*instants, float("inf")])
    instant = next(upcoming)
    started_at: dict[int, float] = {}
    for place, event in enumerate(events):
        while instant < event.now:
            sampler.sample(instant)
            instant = next(upcoming)
        if not event.is_start:
            sampler.regular_ended(event.key) if event.is_regular else sampler.preemptible_ended(event.key)
        elif event.is_regular:
            before = events[place - 1]
            made_room = place and before.now == event.now and not before.is_start
            victim = started_at[before.key] if made_room else float("inf")
            sampler.regular_started(event.key, 0, 1, event.now, victim)
        else:
            sampler.preemptible_started(event.key, 0, 1, event.now)
        if event.is_start:
            started_at[event.key] = event.now
    found = {each.start: each for each in sampler.lifetimes(events[-1].now)}
    for start in instants:
        expected = _by_definition(events, cores, start, threat)
        assert (found.get(start) is None) == (expected is None)
        if expected is not None:
            assert found[start].seconds == pytest.approx(expected)


def _by_definition(events: list[_Recorded], cores: int, start: float, threat: Threat) -> float | None:
    running: dict[int, bool] = {}
    counted: dict[int, bool] = {}
    has_begun = False
    for event in events:
        if event.now > start and not has_begun:
            has_begun = True
            if len(running) >= cores:
                return None
            counted = dict(running)
        for use in (running, counted) if has_begun else (running,):
            if not event.is_start:
                use.pop(event.key, None)
            elif use is running or event.is_regular or threat is Threat.ALL:
                use[event.key] = event.is_regular
        if has_begun and event.is_start and len(counted) + 1 > cores:
            return event.now - start
    return events[-1].now - start
