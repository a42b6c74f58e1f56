"""Alternatives in the words of a refusal."""

from __future__ import annotations

import pytest

from lease_scheduler.plan.explaining.advice import Alternative


@pytest.mark.parametrize(
    ("alternative", "words"),
    [
        # Rounded up: a request that much later finds the place free.
        (Alternative("start", 90_061, 2, 600), "the same terms 1 d 2 h later"),
        (Alternative("nodes", 0, 1, 600), "1 node"),
        (Alternative("duration", 0, 2, 600), "10 min"),
        (
            Alternative("duration", 0, 2, 600, (("deadline", 2), ("best-effort", 1))),
            "10 min (preempting 2 deadline and 1 best-effort)",
        ),
    ],
)
def test_an_alternative_names_the_difference_in_words(alternative: Alternative, words: str) -> None:
    assert alternative.in_words(0) == words
