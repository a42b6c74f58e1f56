"""By when a queued lease is expected to start (prediction A5, A6)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.api.views.expectation import expectation_in_words

_VIEW: dict[str, Any] = {
    "expected_wait": 3_600,
    "expected_wait_from": 812,
    "submitted": 1_900_000_000,
    "started": None,
    "state": "queued",
}


def test_a_waiting_lease_shows_by_when_it_is_expected_to_start() -> None:
    said = "has started by 2030-03-17T18:46:40Z with 95 %, from 812 leases that waited; this is not a promise"
    assert expectation_in_words(_VIEW) == said


@pytest.mark.parametrize("change", [{"started": 1_900_000_007}, {"state": "cancelled"}, {"expected_wait": None}])
def test_other_leases_have_no_expectation(change: dict[str, Any]) -> None:
    assert expectation_in_words({**_VIEW, **change}) is None
