"""As many nodes as fit, out of a range."""

from __future__ import annotations

from itertools import product

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.plan.fitting.largest_fit import check_least, most_that_fits, with_counts
from tests.unit.plan.conftest import VM


def _request(*counts: int) -> LeaseRequest:
    return LeaseRequest("1", LeaseKind.IMMEDIATE, tuple(NodeSet(count, VM) for count in counts), 0, 100)


@pytest.mark.parametrize("room", range(13))
def test_each_node_set_gets_its_minimum_and_then_what_is_left(room: int) -> None:
    """The first node sets come first; nothing fits if the smallest numbers do not."""
    for counts in product(range(1, 5), repeat=2):
        for least in product(*(range(1, count + 1) for count in counts)):
            found = most_that_fits(_request(*counts), least, lambda tried: tried.node_count <= room)
            if sum(least) > room:
                assert found is None
                continue
            first = min(counts[0], room - least[1])
            assert found == _request(first, min(counts[1], room - first))


def test_no_number_is_tried_twice() -> None:
    """Asking may be expensive: a range of one number is asked once, and all nodes first."""
    asked: list[int] = []

    def fits(tried: LeaseRequest) -> bool:
        asked.append(tried.node_count)
        return tried.node_count <= 100

    assert most_that_fits(_request(200), (200,), fits) is None
    assert asked == [200]
    asked.clear()
    assert most_that_fits(_request(100), (1,), fits) == _request(100)
    assert asked == [100]
    asked.clear()
    assert most_that_fits(_request(1000), (1,), fits) == _request(100)
    assert asked[:2] == [1000, 1]
    assert len(asked) <= 2 + 10
    assert len(set(asked)) == len(asked)


def test_terms_other_than_the_numbers_stay() -> None:
    """A node set whose number stays is the same value."""
    request = _request(2, 3)
    assert with_counts(request, (2, 1)) == _request(2, 1)
    assert with_counts(request, (2, 1)).nodes[0] is request.nodes[0]


@pytest.mark.parametrize("least", [(1,), (1, 1, 1), (0, 1), (3, 1), (1, 0), (1, 4)])
def test_minimum_numbers_are_from_one_to_the_number_of_nodes(least: tuple[int, ...]) -> None:
    """One for each node set."""
    with pytest.raises(InvalidValueError) as error:
        check_least(_request(2, 3), least)
    assert error.value.field == "least"
    check_least(_request(2, 3), (1, 1))
    check_least(_request(2, 3), (2, 3))
