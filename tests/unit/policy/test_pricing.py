"""Prices of leases (haizea F37, F78-F80)."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.adaptive import Adaptive
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.pricing.constant import Constant
from lease_scheduler.policy.pricing.free import Free
from lease_scheduler.policy.pricing.maximum import Maximum
from lease_scheduler.policy.pricing.random import Random

NONE = PolicyOptions()


def _offer(policy: PricingPolicy, user: str, highest: float) -> float:
    """Offer a lease to a user who accepts any price up to a limit; return the rate."""
    rate = policy.rate(user, highest)
    policy.quoted()
    policy.answered(user, rate, accepted=rate <= highest)
    return rate


def _taken_over(policy: Adaptive | Random, kept: dict[str, object]) -> PricingPolicy:
    """Return another policy with the state of the first one, passed through JSON as by a store."""
    kept.update(policy.take_changes())
    other = type(policy)(policy.options)
    other.restore(json.loads(json.dumps(kept)))
    return other


def test_free_leases_have_no_prices() -> None:
    assert not Free(NONE).charges
    assert Free(NONE).rate("a", 3.0) == 0


def test_constant_is_the_same_for_all_projects() -> None:
    """haizea F79, CONSTANT."""
    policy = Constant(PolicyOptions({"pricing_rate": "0.10"}))
    assert [_offer(policy, "a", 1.0), _offer(policy, "b", 0.01), _offer(policy, "a", 7.0)] == [0.10, 0.10, 0.10]
    assert Constant(NONE).rate(None, None) == 1.0


@pytest.mark.parametrize(
    ("kind", "mode", "factor"),
    [
        (LeaseKind.RESERVATION, None, 3.0),
        (LeaseKind.RESERVATION, PreemptionMode.SHELVE, 0.75),
        (LeaseKind.BEST_EFFORT, PreemptionMode.SHELVE, 0.125),
        (LeaseKind.BEST_EFFORT, PreemptionMode.DELETE, 0.5),
        # It agrees to be preempted in no way.
        (LeaseKind.BEST_EFFORT, PreemptionMode.NONE, 0.5),
        (LeaseKind.IMMEDIATE, None, 1.0),
    ],
)
def test_more_flexible_requests_can_be_cheaper(kind: LeaseKind, mode: PreemptionMode | None, factor: float) -> None:
    """contention F8; the factors of kind and preemption mode multiply."""
    policy = Constant(
        PolicyOptions(
            {"pricing_factor_reservation": "3", "pricing_factor_best_effort": "0.5", "pricing_factor_shelve": "0.25"}
        )
    )
    start = 100 if kind.has_start else None
    asked = LeaseRequest("1", kind, (NodeSet(1, Resources({VCPU: 1})),), 0, duration=3600, start=start)
    asked = replace(asked, preemptible=mode is not None, preemption_mode=mode or PreemptionMode.NONE)
    assert policy.factor(asked) == factor


def test_maximum_is_the_highest_rate_that_the_user_would_pay() -> None:
    """haizea F79, MAXIMUM: it is never rejected; for simulations."""
    policy = Maximum(PolicyOptions({"pricing_rate": "2"}))
    assert policy.needs_users_rates
    assert [policy.rate("a", 0.3), policy.rate("b", 9.9), policy.rate("c", None)] == [0.3, 9.9, 2.0]


def test_random_draws_evenly_within_its_bounds() -> None:
    """haizea F79, RANDOM: between r_min and r_max, different for every quote."""
    policy = Random(PolicyOptions({"pricing_min_rate": "2", "pricing_max_rate": "4"}))
    rates = [_offer(policy, "a", 3.0) for _ in range(4_000)]
    assert 2 <= min(rates) < 2.01 and 3.99 < max(rates) < 4
    assert sum(rates) / len(rates) == pytest.approx(3, abs=0.05)
    assert len(set(rates)) == len(rates)


def test_random_depends_on_its_seed_and_on_what_was_quoted() -> None:
    """The same draws on every run; reading the rate changes nothing."""

    def draws(seed: str) -> list[float]:
        policy = Random(PolicyOptions({"pricing_seed": seed}))
        return [(policy.rate("x", None), _offer(policy, "a", 3.0))[1] for _ in range(5)]

    assert draws("1") == draws("1") != draws("2")


def test_random_goes_on_where_another_one_stopped() -> None:
    whole, first = Random(NONE), Random(NONE)
    expected = [_offer(whole, "a", 3.0) for _ in range(10)]
    drawn = [_offer(first, "a", 3.0) for _ in range(4)]
    second = _taken_over(first, {})
    assert drawn + [_offer(second, "a", 3.0) for _ in range(6)] == expected
    assert first.take_changes() == {}


def test_adaptive_finds_the_rate_of_one_user() -> None:
    """haizea A1: up by half until the user rejects one, then the middle, where it stays."""
    policy = Adaptive(NONE)
    assert [_offer(policy, "a", 3.0) for _ in range(7)] == [1, 1.5, 2.25, 3.375, 2.8125, 2.8125, 2.8125]


def test_adaptive_halves_the_rate_until_the_user_accepts() -> None:
    """haizea F80, DOWN."""
    policy = Adaptive(PolicyOptions({"pricing_rate": "8"}))
    assert [_offer(policy, "a", 1.5) for _ in range(5)] == [8, 4, 2, 1, 1.5]
    steeper = Adaptive(PolicyOptions({"pricing_rate": "8", "pricing_down": "0.25"}))
    assert [_offer(steeper, "a", 1.5) for _ in range(3)] == [8, 2, 0.5]


def test_adaptive_takes_the_upper_median_of_users() -> None:
    """haizea 4.17: sorted[int(count * N)]."""
    policy = Adaptive(NONE)
    for user, rate in (("a", 2.0), ("b", 4.0), ("c", 6.0), ("d", 8.0)):
        policy.answered(user, rate, accepted=True)
    assert policy.rate("a", None) == 9.0
    lower = Adaptive(PolicyOptions({"pricing_percentile": "0.25", "pricing_up": "2"}))
    for user, rate in (("a", 2.0), ("b", 4.0), ("c", 6.0), ("d", 8.0)):
        lower.answered(user, rate, accepted=True)
    assert lower.rate("a", None) == 8.0


def test_adaptive_comes_near_what_all_users_would_pay() -> None:
    """haizea 5.8: with users who all pay 1.00 the rate converges to 1.00."""
    policy, users = Adaptive(NONE), random.Random(276100674)
    rates = [_offer(policy, str(users.randrange(50)), 1.0) for _ in range(3_000)]
    assert rates[-1] == pytest.approx(1.0, abs=0.05)
    assert max(rates[-500:]) <= 1.0, "towards the end nobody turns anything down"


def test_adaptive_comes_near_the_median_of_users() -> None:
    """haizea 5.6, UNIFORM users: the final rate is within a standard error of the median."""
    users = random.Random(1)
    highest = {str(number): users.uniform(0.1, 10) for number in range(400)}
    policy = Adaptive(NONE)
    rates = [_offer(policy, user, highest[user]) for user in users.choices(list(highest), k=40_000)]
    assert rates[-1] == pytest.approx(sorted(highest.values())[200], abs=1.0)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.floats(0.1, 10)), max_size=60), st.integers(0, 60))
def test_adaptive_survives_a_take_over(requests: list[tuple[str, float]], at: int) -> None:
    """Whenever another engine continues with the stored state, its rates are those of one that never stopped."""
    whole, policy = Adaptive(NONE), Adaptive(NONE)
    kept: dict[str, object] = {}
    for number, (user, highest) in enumerate(requests):
        if number == at:
            policy = _taken_over(policy, kept)  # type: ignore[assignment]
        assert _offer(policy, user, highest) == _offer(whole, user, highest)
        kept.update(policy.take_changes())
    assert _taken_over(policy, kept).rate(None, None) == whole.rate(None, None)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.1, 10), st.booleans()), max_size=40))
def test_adaptive_is_the_published_algorithm(answers: list[tuple[str, float, bool]]) -> None:
    """haizea 4.17: the algorithm as printed scans a table of all users every time."""
    policy = Adaptive(NONE)
    table: dict[str, dict[str, float | bool | None]] = {}
    for user, rate, accepted in answers:
        policy.answered(user, rate, accepted=accepted)
        row = table.setdefault(user, {"high": None, "low": None, "estimate": None, "done": False})
        if not accepted:
            row["low"] = rate if row["low"] is None else min(rate, row["low"])
        elif row["high"] is None:
            row["high"] = rate
        elif row["low"] is not None:
            row["done"] = True
        else:
            row["high"] = max(rate, row["high"])
        for each in table.values():
            if each["done"]:
                continue
            low, high = each["low"], each["high"]
            if low is not None and high is not None:
                each["estimate"] = (low + high) / 2
            else:
                each["estimate"] = low * 0.5 if low is not None else (high or 0) * 1.5
        estimates = sorted(float(each["estimate"] or 0) for each in table.values())
        assert policy.rate(None, None) == estimates[int(len(estimates) * 0.5)]


def test_adaptive_takes_the_lower_rate_of_two_that_are_close() -> None:
    policy = Adaptive(PolicyOptions({"pricing_resolution": "0.1"}))
    policy.answered("a", 1.0, accepted=True)
    policy.answered("a", 1.2, accepted=False)
    assert policy.rate("a", None) == 1.1
    policy.answered("a", 1.1, accepted=False)
    assert policy.rate("a", None) == 1.0


@pytest.mark.parametrize(
    ("policy", "options", "name"),
    [
        (Constant, {"pricing_rate": "-1"}, "pricing_rate"),
        (Constant, {"pricing_rate": "much"}, "pricing_rate"),
        (Constant, {"pricing_surcharge": "inf"}, "pricing_surcharge"),
        (Constant, {"pricing_factor_shelve": "0"}, "pricing_factor_shelve"),
        (Random, {"pricing_min_rate": "3", "pricing_max_rate": "2"}, "pricing_max_rate"),
        (Random, {"pricing_seed": "x"}, "pricing_seed"),
        (Adaptive, {"pricing_percentile": "1"}, "pricing_percentile"),
    ],
)
def test_bad_options_are_refused(policy: type[PricingPolicy], options: dict[str, str], name: str) -> None:
    with pytest.raises(InvalidValueError, match=name):
        policy(PolicyOptions(options))
