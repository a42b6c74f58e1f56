"""What leases need, as told from what they use (dfrs A32; issue 22, point 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from lease_scheduler.fractional.discovery import UNKNOWN, NeedDiscovery, Needs, Sharing


def _every_third() -> int:
    return 3


def _on(host: int, given: float, used: float | None) -> Sharing:
    return Sharing(given, (host,), used)


def test_a_lease_that_uses_less_than_it_is_given_needs_what_it_uses() -> None:
    discovery = NeedDiscovery(gap=None)
    leases = {"a": _on(0, 0.5, 0.204), "b": _on(1, 0.5, 0.49), "c": _on(0, 0.5, None)}
    assert discovery.observe(leases) == Needs({"a": 0.21})
    # Differences that are not worth it, and an interval in which its part has changed, change nothing.
    assert discovery.observe({"a": _on(0, 0.5, 0.22), "b": None}) == Needs({"a": 0.21})
    assert discovery.observe({"a": None}) == Needs({"a": 0.21})
    assert discovery.observe({"a": _on(0, 0.5, 0.3)}) == Needs({"a": 0.3})
    assert discovery.observe({}) == UNKNOWN


@pytest.mark.parametrize(
    ("given", "used", "need"),
    [
        # Ten times what it declared, which a meter of another machine may say, is all of it.
        (0.5, 10.0, {}),
        (1.0, 10.0, {}),
        (0.5, 0.0, {"a": 0.01}),
        (0.5, None, {}),
    ],
)
def test_absurd_figures_give_valid_needs(given: float, used: float | None, need: dict[str, float]) -> None:
    discovery = NeedDiscovery(gap=None)
    assert discovery.observe({"a": _on(0, 0.5, 0.3)}).parts == {"a": 0.3}
    assert discovery.observe({"a": _on(0, given, used)}).parts == need


def test_a_lease_of_unknown_use_is_forgotten() -> None:
    discovery = NeedDiscovery(_every_third)
    assert discovery.observe({"a": _on(0, 0.5, 0.3)}).parts == {"a": 0.3}
    assert discovery.observe({"a": _on(0, 0.5, None)}).parts == {}
    discovery.observe({"a": _on(0, 0.5, 0.3)})
    assert discovery.forget() == UNKNOWN
    assert discovery.observe({"a": None}) == UNKNOWN


def test_trials_tell_the_needs_of_leases_that_use_all_they_are_given() -> None:
    """Every third interval, on each host one: the one whose last trial is longest ago; on two hosts, one for both."""
    discovery = NeedDiscovery(_every_third)
    full = {
        "wide": Sharing(0.3, (0, 1), 0.3),
        "a": _on(0, 0.3, 0.3),
        "b": _on(1, 0.3, 0.31),
        "idle": _on(2, 0.3, 0.1),
        "alone": _on(3, 1.0, 1.0),
    }
    assert [discovery.observe(full).tried for _ in range(3)] == [set(), set(), {"a", "b"}]
    # One turns out to need half, the other one uses all that it can be given, so it may need all that it declared.
    found = discovery.observe(full | {"a": _on(0, 0.8, 0.5), "b": _on(1, 0.8, 0.8)})
    assert found == Needs({"a": 0.5, "idle": 0.1})
    # Then it gets less, and uses all of that: nothing new.
    assert discovery.observe(full).parts == {"a": 0.5, "idle": 0.1}
    # What others left has let it use more.
    found = discovery.observe(full | {"a": _on(0, 0.3, 0.6)})
    assert found == Needs({"a": 0.6, "idle": 0.1}, frozenset({"wide"}))
    tried = [discovery.observe(full).tried for _ in range(3)]
    assert tried == [set(), set(), {"a", "b"}]


def test_without_trials_leases_that_use_all_need_what_they_declared() -> None:
    discovery = NeedDiscovery(gap=None)
    assert discovery.observe({"a": _on(0, 0.5, 0.3)}).parts == {"a": 0.3}
    for _ in range(4):
        assert discovery.observe({"a": _on(0, 0.3, 0.3)}) == UNKNOWN


def test_beside_others_that_want_more_a_lease_is_tried_before_it_is_known_to_need_less() -> None:
    """Lease b, which is idle, uses less than it is given, and so does a server that works in bursts."""
    discovery = NeedDiscovery(_every_third)
    # Until the trial it is taken to need what it uses.
    beside = {"hog": _on(0, 0.5, 0.9), "b": _on(0, 0.5, 0.1)}
    assert discovery.observe({"hog": None, "b": None}) == UNKNOWN
    assert discovery.observe({"hog": None, "b": None}) == UNKNOWN
    assert discovery.observe(beside) == Needs({"b": 0.1}, frozenset("b"))
    assert discovery.observe({"hog": _on(0, 0.1, 0.85), "b": _on(0, 0.9, 0.1)}).parts == {"b": 0.1}
    # It has what it needs.
    settled = {"hog": _on(0, 0.9, 0.9), "b": _on(0, 0.1, 0.1)}
    assert [discovery.observe(settled).parts for _ in range(2)] == [{"b": 0.1}] * 2


def test_a_lease_that_works_in_bursts_needs_what_it_declared() -> None:
    """With what it uses it gets less than that; a trial tells that it needs more."""
    discovery = NeedDiscovery(_every_third)
    even = {"hog": _on(0, 0.5, 0.83), "b": _on(0, 0.5, 0.17)}
    assert discovery.observe(even) == Needs({"b": 0.17})
    # Moves go by what it was last known to need, and then by what it has used in its trial.
    by_use = {"hog": _on(0, 0.83, 0.94), "b": _on(0, 0.17, 0.06)}
    assert discovery.observe(by_use) == Needs({}, likely={"b": 0.17})
    assert discovery.observe(even) == Needs({}, frozenset("b"), {"b": 0.17})
    assert discovery.observe({"hog": _on(0, 0.1, 0.6), "b": _on(0, 0.9, 0.4)}) == Needs({}, likely={"b": 0.4})
    # It is not tried again, until it uses much less.
    found = [discovery.observe(even) for _ in range(12)]
    assert {lease for each in found for lease in each.tried} == {"hog"}
    assert {lease for each in found for lease in each.parts} == set()
    # The first of these intervals may be beside a trial, which tells nothing.
    less = {"hog": _on(0, 0.5, 0.96), "b": _on(0, 0.5, 0.04)}
    assert [discovery.observe(less).parts for _ in range(2)][-1] == {"b": 0.04}


def test_a_lease_that_uses_more_in_its_trial_works_in_bursts() -> None:
    """Nothing was known of it, and it was taken to need the little that it used."""
    discovery = NeedDiscovery(_every_third)
    for _ in range(2):
        discovery.observe({"hog": None, "b": None})
    assert discovery.observe({"hog": _on(0, 0.5, 0.9), "b": _on(0, 0.5, 0.1)}).tried == {"b"}
    assert discovery.observe({"hog": _on(0, 0.1, 0.6), "b": _on(0, 0.9, 0.4)}) == Needs({}, likely={"b": 0.4})


def test_without_trials_no_lease_needs_less_beside_others_that_want_more() -> None:
    """What was found out while all had what they wanted is forgotten."""
    discovery = NeedDiscovery(gap=None)
    assert discovery.observe({"hog": _on(0, 0.5, 0.2), "b": _on(0, 0.5, 0.3)}).parts == {"hog": 0.2, "b": 0.3}
    assert discovery.observe({"hog": _on(0, 0.7, 0.8), "b": _on(0, 0.3, 0.1)}).parts == {}


def _part_of_burst(phase: int, gap: Callable[[], int]) -> float:
    """Return how much of its work a server gets done that works in one interval in three, beside one that always does.

    Both declare the one CPU of their host, and what a lease needs weighs as much as it would use.
    """
    discovery, needs = NeedDiscovery(gap), UNKNOWN
    done = wanted = 0.0
    for number in range(600):
        wish = 1.0 if (number + phase) % 3 == 0 else 0.05
        of_hog, of_burst = (needs.parts.get(lease, 1.0) for lease in ("hog", "burst"))
        given = of_burst / (of_hog + of_burst)
        if needs.tried:
            given = 1.0 if "burst" in needs.tried else 0.0
        used = min(wish, given)
        done, wanted = done + used, wanted + wish
        needs = discovery.observe({"hog": _on(0, 1 - given, 1 - used), "burst": _on(0, given, used)})
    return done / wanted


def test_nobody_gains_or_loses_by_working_in_step_with_trials() -> None:
    """In step with every third interval, one server gets much of what it wants, and others next to nothing."""
    foreseen = [_part_of_burst(phase, _every_third) for phase in range(3)]
    assert max(foreseen) > 3 * min(foreseen)
    drawn = [_part_of_burst(phase, partial(Random(phase).randint, 2, 4)) for phase in range(3)]
    assert max(drawn) < 1.25 * min(drawn)
    assert min(drawn) > 2 * min(foreseen)
