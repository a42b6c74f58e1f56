"""On many hosts, what is known of most of them is not computed again; the answers are the same."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.plan.capacity import places, step_edits, steps
from lease_scheduler.plan.capacity.availability import FOREVER, Availability
from lease_scheduler.plan.capacity.step_edits import with_repeats, without

_HOSTS = 300


@pytest.mark.parametrize("shape", [(40,), (3, 40)])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_few_and_many_edits_give_the_same_arrays(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], count: int
) -> None:
    random = np.random.default_rng(count)
    array = random.integers(0, 100, shape)
    before = np.sort(random.integers(1, 41, count))
    dropped = np.sort(random.choice(40, count, replace=False))
    few = with_repeats(array, before), without(array, dropped)

    monkeypatch.setattr(step_edits, "FEW", 0)

    many = with_repeats(array, before), without(array, dropped)
    assert np.array_equal(few[0], many[0]) and np.array_equal(few[1], many[1])
    assert few[0].shape[-1] == 40 + count and few[1].shape[-1] == 40 - count


def _answers(availability: Availability, demand: np.ndarray, now: int) -> list[list[int]]:
    found = availability.places(demand)
    return [
        found.holding_times(now).tolist(),
        *(found.on_hosts(now, end).tolist() for end in (now + 1, now + 30, FOREVER)),
        availability.free_at(now)[0].tolist(),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_answers_do_not_depend_on_the_number_of_hosts(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = np.random.default_rng(seed)
    demand = np.array([1], dtype=np.int64)
    amounts = np.array([[1], [1]], dtype=np.int64)
    availability = Availability(np.full((1, _HOSTS), 1 + seed % 2, dtype=np.int64))
    for number in range(_HOSTS - 5):
        whole = amounts * np.array([[1 + seed % 2], [1]])
        availability = availability.changed(np.array([number]), 0, int(random.integers(1, 60)), whole)
    for number in range(40):
        now = number // 4
        with_known = _answers(availability, demand, now)
        with monkeypatch.context() as patched:
            patched.setattr(steps, "MANY_HOSTS", _HOSTS + 1)
            patched.setattr(places, "MANY_HOSTS", _HOSTS + 1)
            assert _answers(availability.unremembered(), demand, now) == with_known
        if number % 4 == 3:
            availability = availability.forgotten(now)
        # Also a change that is undone at once, which adds steps and drops them.
        host, start = np.array([int(random.integers(_HOSTS))]), now + int(random.integers(0, 20))
        changed = availability.changed(host, start, start + 10, amounts)
        undone = changed.changed(host, start, start + 10, -amounts)
        assert _answers(undone, demand, now) == _answers(availability.unremembered(), demand, now)
        availability = changed
