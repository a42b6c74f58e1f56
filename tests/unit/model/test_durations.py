from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.durations import exactly, in_words

DAY, HOUR, MINUTE = 86_400, 3_600, 60


@pytest.mark.parametrize(
    ("seconds", "down", "up", "exact"),
    [
        (0, "0 s", "0 s", "0 s"),
        (0.4, "0 s", "0 s", None),
        (59, "59 s", "59 s", "59 s"),
        (HOUR, "1 h", "1 h", "1 h"),
        (299, "4 min 59 s", "4 min 59 s", "4 min 59 s"),
        (17_188, "4 h 46 min", "4 h 47 min", "4 h 46 min 28 s"),
        (DAY + 40, "1 d", "1 d 1 h", "1 d 40 s"),
        (DAY - 1, "23 h 59 min", "1 d", "23 h 59 min 59 s"),
        (400 * DAY + 2 * HOUR, "400 d 2 h", "400 d 2 h", "400 d 2 h"),
    ],
)
def test_words(seconds: float, down: str, up: str, exact: str | None) -> None:
    assert (in_words(seconds), in_words(seconds, up=True)) == (down, up)
    if exact is not None:
        assert exactly(int(seconds)) == exact


@given(st.integers(0, 4_000 * DAY))
def test_rounding_never_says_more_or_less_than_it_may(seconds: int) -> None:
    sizes = {"d": DAY, "h": HOUR, "min": MINUTE, "s": 1}

    def read(words: str) -> int:
        parts = words.split()
        return sum(int(amount) * sizes[unit] for amount, unit in zip(parts[::2], parts[1::2], strict=True))

    assert read(in_words(seconds)) <= seconds <= read(in_words(seconds, up=True))
    assert read(exactly(seconds)) == seconds
    assert len(in_words(seconds).split()) <= 4
