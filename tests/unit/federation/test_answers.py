from __future__ import annotations

import pytest

from lease_scheduler.federation.answers import Bid, FederationReason, Reason, reason_of
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.refusals import RefusalReason


@pytest.mark.parametrize("reason", [*RefusalReason, *FederationReason])
def test_the_word_of_a_reason_names_it_and_no_other(reason: Reason) -> None:
    assert reason_of(reason.value) is reason


def test_a_word_of_a_later_version_is_another_reason() -> None:
    assert reason_of("full-moon") is FederationReason.OTHER


@pytest.mark.parametrize(
    ("start", "end", "survival", "message"),
    [
        (5, None, 1.0, "bid: must have both start and end, or neither"),
        (5, 5, 1.0, "bid.end: must be after the start 5, not 5"),
        (5, 6, 1.5, "bid.survival: must be a probability from 0 to 1, not 1.5"),
    ],
)
def test_a_bid_that_cannot_be_is_refused(start: int, end: int | None, survival: float, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Bid("a", "1", start, end, survival=survival)
