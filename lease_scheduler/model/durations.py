"""Durations in words, for messages and tables that people read. Programs get seconds."""

from __future__ import annotations

#: Units from the largest to the smallest, with their seconds.
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def in_words(seconds: float, *, up: bool = False) -> str:
    """Return a duration in its two largest units, such as ``4 h 46 min``.

    :param seconds: at least 0
    :param up: round up instead of down, for a duration that must have passed
    """
    whole = int(seconds)
    largest = next((number for number, (_, size) in enumerate(_UNITS) if size <= whole), len(_UNITS) - 1)
    grain = _UNITS[min(largest + 1, len(_UNITS) - 1)][1]
    return exactly(-(-whole // grain) * grain if up else whole // grain * grain)


def exactly(seconds: int) -> str:
    """Return a duration to the second, such as ``1 d 40 s``, for limits and what exceeds them.

    :param seconds: at least 0
    """
    words, rest = [], seconds
    for unit, size in _UNITS:
        amount, rest = divmod(rest, size)
        if amount:
            words.append(f"{amount} {unit}")
    return " ".join(words) or "0 s"
