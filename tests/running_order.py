"""The order of the tests, so that all workers of pytest-xdist are busy until the end.

``--dist worksteal`` gives each worker a part of the list, of the same number of tests. A worker that has done its part
takes half of what is left of the longest part, but neither the test that runs there nor the one after it. So if the
last tests are long, the other workers wait for one. Here each part has as many long ones as the others, and ends with
short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, groupby
from typing import TypeVar

_Test = TypeVar("_Test")

#: Share of the short tests that is kept for the end.
_KEPT = 0.3


def dealt(
    tests: Sequence[_Test], group: Callable[[_Test], object], is_long: Callable[[_Test], bool], workers: int
) -> list[_Test]:
    """Return the tests in the order in which the workers are to get them.

    :param group: tests of one group that follow each other share what is costly to start, and stay together if they
        are long
    :param is_long: whether the tests of a group are long
    :param workers: number of workers, at least 1
    """
    groups = [list(members) for _, members in groupby(tests, group)]
    long = [members for members in groups if is_long(members[0])]
    short = [test for members in groups if not is_long(members[0]) for test in members]
    order: list[_Test] = []
    for number, size in enumerate(_sizes(len(tests), workers)):
        mine = long[number::workers]
        # Where long ones are more than a part, the parts are shifted, which stealing makes up for.
        taken = max(0, size - sum(map(len, mine)))
        filling, short = short[:taken], short[taken:]
        order += _mixed(mine, [list(members) for _, members in groupby(filling, group)])
    return [*order, *short]


def _sizes(count: int, workers: int) -> list[int]:
    """Return how many tests each worker gets first, as pytest-xdist counts them."""
    sizes = []
    for left in range(workers, 0, -1):
        sizes.append(count // left)
        count -= sizes[-1]
    return sizes


def _mixed(long: list[list[_Test]], short: list[list[_Test]]) -> list[_Test]:
    """Spread groups of short tests, which compute, among long ones, which mostly wait; keep some for the end."""
    early = round(len(short) * (1 - _KEPT))
    order: list[_Test] = []
    begun = 0
    for number, members in enumerate(long):
        order += members
        end = early * (number + 1) // len(long)
        order += chain.from_iterable(short[begun:end])
        begun = end
    return [*order, *chain.from_iterable(short[begun:])]
