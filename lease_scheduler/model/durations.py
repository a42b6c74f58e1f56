"""Durations as people read and write them. Programs use seconds."""

from __future__ import annotations

import re

#: Units from the largest to the smallest, with their seconds.
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))

_DURATION = re.compile(
    r"(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?:in)?)?(?:(\d{1,12})s?)?", re.ASCII
)
_ISO_DURATION = re.compile(
    r"P(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12})S)?)?", re.ASCII
)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def seconds_of(text: str) -> int | None:
    """Return the seconds of a duration such as ``7200``, ``2h30m``, ``1d`` or ``PT2H30M``, or None if it is invalid."""
    found = _ISO_DURATION.fullmatch(text.upper()) or _DURATION.fullmatch(text.lower())
    if found is None or not any(found.groups()):
        return None
    return sum(int(number) * unit for number, unit in zip(found.groups(), _SECONDS, strict=True) if number)


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
    """Return a duration in words that are exact to the second, such as ``1 d 40 s``, for limits and what exceeds them.

    :param seconds: at least 0
    """
    words, rest = [], seconds
    for unit, size in _UNITS:
        amount, rest = divmod(rest, size)
        if amount:
            words.append(f"{amount} {unit}")
    return " ".join(words) or "0 s"
