"""What new terms cost at an agreed rate, and what a budget buys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.prices import at_its_rate, with_max_price, within_budget
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet

from .conftest import VM, request

RESERVATION = LeaseKind.RESERVATION


@pytest.mark.parametrize(
    ("terms", "refund_share", "price", "retained"),
    [
        ({"duration": 7200}, 1.0, 7.0, 1.0),
        ({"duration": 1800}, 1.0, 2.5, 1.0),
        # Half of the price of half an hour, 0.75, is kept as well.
        ({"duration": 1800}, 0.5, 3.25, 1.75),
        ({"duration": 7200}, 0.0, 7.0, 1.0),
        ({"duration": 3600}, 0.0, 4.0, 1.0),
    ],
)
def test_what_new_terms_cost_follows_the_agreed_rate(
    terms: dict[str, Any], refund_share: float, price: float, retained: float
) -> None:
    """The lease costs 3 for an hour. An earlier change left 1 that is not paid back."""
    had = Grant(price=4.0, retained=1.0, expected_wait=60, expected_wait_from=59)
    lease = Lease(request("1", RESERVATION, 1, 3600, start=0), 1, grant=had)
    found = at_its_rate(lease, replace(lease.request, **terms), refund_share)
    assert (found.price, found.retained) == pytest.approx((price, retained))
    assert replace(found, price=4.0, retained=1.0) == had


def test_a_lease_without_a_price_costs_nothing_under_new_terms() -> None:
    lease = Lease(request("1", RESERVATION, 1, 3600, start=0), 1)
    assert at_its_rate(lease, replace(lease.request, duration=7200)) == Grant()


def test_the_limit_of_a_price_stays_until_another_one_is_named() -> None:
    lease = Lease(request("1", RESERVATION, 1, 3600, start=0, max_price=5.0), 1)
    same, other = (replace(lease.request, duration=1800, max_price=limit) for limit in (None, 6.0))
    assert with_max_price(lease, same) == replace(lease.request, duration=1800)
    assert with_max_price(lease, other) == other
    unlimited = Lease(replace(lease.request, max_price=None), 1)
    assert with_max_price(unlimited, same) == same


@pytest.mark.parametrize(
    ("rate", "budget", "expected"),
    [
        (1.0, 4.0, [("nodes", 4, 3600), ("duration", 8, 1800)]),
        (1.0, 1.0, [("nodes", 1, 3600), ("duration", 8, 450)]),
        # Not even one node for all of the time.
        (1.0, 0.99, [("duration", 8, 445)]),
        (1.0, 8.0, []),
        (1.0, 0.002, []),
        (0.0, 4.0, []),
        (1.0, 0.0, []),
    ],
)
def test_a_budget_buys_fewer_nodes_or_less_time(
    rate: float, budget: float, expected: list[tuple[str, int, int]]
) -> None:
    """Of eight nodes for an hour; of several node sets, only less time."""
    asked = request("1", RESERVATION, 8, 3600, start=100)
    found = within_budget(asked, rate, budget, 100)
    assert [(each.change, each.nodes, each.duration) for each in found] == expected
    assert {each.start for each in found} <= {100}
    two_sets = replace(asked, nodes=(NodeSet(4, VM), NodeSet(4, VM)))
    found = within_budget(two_sets, rate, budget, 100)
    assert [(each.change, each.nodes, each.duration) for each in found] == [
        each for each in expected if each[0] == "duration"
    ]
