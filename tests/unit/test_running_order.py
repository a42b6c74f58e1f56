"""The order of the tests: what each worker gets first."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from tests.running_order import dealt

#: A test is its group, its number in the group, and whether it is long.
_Test = tuple[int, int, bool]


def _tests(groups: list[tuple[int, bool]]) -> list[_Test]:
    return [(group, each, is_long) for group, (size, is_long) in enumerate(groups) for each in range(size)]


def _dealt(tests: list[_Test], workers: int) -> list[_Test]:
    return dealt(tests, lambda test: test[0], lambda test: test[2], workers)


_GROUPS = st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=30)


@given(_GROUPS, st.integers(1, 6))
def test_each_test_is_there_once_and_long_groups_stay_together(groups: list[tuple[int, bool]], workers: int) -> None:
    tests = _tests(groups)
    order = _dealt(tests, workers)
    assert sorted(order) == tests
    long = [group for group, members in groupby(order, lambda test: test[0]) if next(members)[2]]
    assert len(long) == len(set(long))


def test_each_worker_gets_as_many_long_groups_and_ends_with_short_tests() -> None:
    order = _dealt(_tests([(5, True)] * 8 + [(5, False)] * 40), 4)
    for first in range(0, 240, 60):
        part = order[first : first + 60]
        assert len({group for group, _, is_long in part if is_long}) == 2
        assert part[0][2]
        assert not any(is_long for _, _, is_long in part[-15:])


def test_short_tests_run_between_long_groups() -> None:
    order = _dealt(_tests([(1, True)] * 4 + [(1, False)] * 40), 1)
    places = [place for place, (_, _, is_long) in enumerate(order) if is_long]
    assert places == [0, 8, 16, 24]


def test_more_long_tests_than_a_part_holds_come_first() -> None:
    order = _dealt(_tests([(50, True), (3, False)]), 2)
    assert [is_long for _, _, is_long in order] == [True] * 50 + [False] * 3
