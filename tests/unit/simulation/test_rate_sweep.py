"""A whole workload at one rate after the other (haizea F89)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.adaptive import Adaptive
from lease_scheduler.simulation.rate_sweep import RATES, adaptive_rate, median_rate, sweep_rates
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def _workload(*leases: tuple[float | str | None, int, int]) -> Workload:
    """Return leases of one user each, by (user's rate, nodes, hours)."""
    return Workload(
        "made up",
        tuple(
            WorkloadLease(
                LeaseRequest(
                    lease_id=str(number),
                    kind=LeaseKind.BEST_EFFORT,
                    submitted=number,
                    nodes=(NodeSet(nodes, Resources({VCPU: 100})),),
                    duration=hours * 3_600,
                    user=f"user-{rate}",
                    extras={} if rate is None else {"simul_userrate": str(rate)},
                )
            )
            for number, (rate, nodes, hours) in enumerate(leases)
        ),
    )


def test_earned_underpriced_and_rejected_shares_add_up() -> None:
    """haizea 4.20: 20 is the total; a user accepts a rate equal to the limit."""
    swept = sweep_rates(_workload((1, 2, 1), (4, 1, 2), (5, 2, 1)), np.array([0.5, 1, 2, 4, 4.01, 6]))

    assert (swept.earned * 20).tolist() == pytest.approx([3, 6, 8, 16, 8.02, 0])
    assert (swept.underpriced * 20).tolist() == pytest.approx([17, 14, 10, 2, 1.98, 0])
    assert (swept.rejected * 20).tolist() == pytest.approx([0, 0, 2, 2, 10, 20])
    assert swept.best_rate == 4


def test_rates_are_exactly_those_of_their_texts() -> None:
    """haizea 4.20: 0.10 to 10.00 by 0.01, each exactly the number that its text in a workload means (haizea 8.3)."""
    assert len(RATES) == 991
    assert RATES.tolist() == [float(f"{cents // 100}.{cents % 100:02}") for cents in range(10, 1001)]


@given(
    st.lists(
        st.tuples(st.decimals(0, 10, places=2).map(float), st.integers(1, 64), st.integers(1, 48)),
        min_size=1,
        max_size=30,
    ).filter(lambda leases: any(rate > 0 for rate, _, _ in leases))
)
def test_the_sweep_agrees_with_one_request_after_the_other(leases: list[tuple[float, int, int]]) -> None:
    swept = sweep_rates(_workload(*leases))
    worth = [(highest, nodes * hours) for highest, nodes, hours in leases]
    total = sum(highest * amount for highest, amount in worth)

    for place in range(0, len(RATES), 33):
        rate = float(RATES[place])
        earned = sum(rate * amount for highest, amount in worth if rate <= highest)
        lost = sum((highest - rate) * amount for highest, amount in worth if rate <= highest)
        refused = sum(highest * amount for highest, amount in worth if rate > highest)
        found = [values[place] * total for values in (swept.earned, swept.underpriced, swept.rejected)]
        assert found == pytest.approx([earned, lost, refused], abs=1e-6)
    assert swept.earned + swept.underpriced + swept.rejected == pytest.approx(1, abs=1e-9)
    assert min(swept.earned.min(), swept.underpriced.min(), swept.rejected.min()) >= -1e-12


def test_adaptive_ends_at_the_rate_that_follows_from_its_users() -> None:
    """haizea A1: 1, 1.5, 2.25, 3.375 (rejected), 2.8125 from then on."""
    policy = Adaptive(PolicyOptions())
    ends = [adaptive_rate(_workload(*[(3, 1, 1)] * count), Adaptive(PolicyOptions())) for count in range(7)]
    assert ends == [1, 1.5, 2.25, 3.375, 2.8125, 2.8125, 2.8125]
    assert adaptive_rate(_workload((0.2, 1, 1)), policy) == 0.5


def test_median_counts_requests_and_takes_the_upper_of_two() -> None:
    assert median_rate(_workload((1, 1, 1), (3, 9, 9), (2, 1, 1))) == 2
    assert median_rate(_workload((1, 1, 1), (3, 9, 9))) == 3


@pytest.mark.parametrize("rate", [None, "a lot", -1, "nan"])
def test_every_lease_must_have_the_rate_of_its_user(rate: float | str | None) -> None:
    workload = _workload((1, 1, 1), (rate, 1, 1))
    for ask in (sweep_rates, median_rate, lambda asked: adaptive_rate(asked, Adaptive(PolicyOptions()))):
        with pytest.raises(InvalidValueError, match="simul_userrate: lease 1 needs it"):
            ask(workload)


@pytest.mark.parametrize("leases", [[], [(0, 1, 1)]])
def test_a_workload_without_any_worth_is_refused(leases: list[tuple[float, int, int]]) -> None:
    with pytest.raises(InvalidValueError, match="no lease of the workload is worth anything"):
        sweep_rates(_workload(*leases))
    if not leases:
        with pytest.raises(InvalidValueError, match="workload: has no leases"):
            median_rate(_workload())
