"""The mark by which a site knows its own trusts and their age."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.records.trust_marks import SAFE_AGE, TrustMark

DAY = 86_400
NOW = 1_900_000_000
MARK = TrustMark("default", "RegionOne")
NAMES = st.text("abcdefghij-", min_size=1, max_size=20)


@given(NAMES, st.none() | NAMES, st.integers(0, 1 << 40))
def test_a_trust_may_be_used_more_often_than_any_lease_does_and_keystone_can_store_it(
    site: str, region: str | None, now: int
) -> None:
    assert 1 << 30 <= TrustMark(site, region).uses(now) < 1 << 31


@given(st.integers(NOW, NOW + 40 * 365 * DAY), st.integers(0, 10 * DAY))
def test_it_is_abandoned_after_its_day_and_the_safe_age(now: int, age: int) -> None:
    found = MARK.is_abandoned(MARK.uses(now), now + age)
    if age < SAFE_AGE:
        assert not found
    if age >= SAFE_AGE + DAY:
        assert found


@pytest.mark.parametrize(
    "other", [TrustMark("default"), TrustMark("default", "RegionTwo"), TrustMark("b", "RegionOne")]
)
def test_trusts_of_other_sites_and_regions_are_not_ours(other: TrustMark) -> None:
    assert not MARK.is_abandoned(other.uses(NOW), NOW + 10 * DAY)


@pytest.mark.parametrize("uses", [None, 1, 10, 1_000_000, 2_000_000_000])
def test_trusts_of_other_services_are_not_ours(uses: int | None) -> None:
    assert not MARK.is_abandoned(uses, NOW)


@given(st.integers(1, 32_767))
def test_a_trust_that_was_used_is_not_abandoned(times: int) -> None:
    assert not MARK.is_abandoned(MARK.uses(NOW) - times, NOW + 10 * DAY)
