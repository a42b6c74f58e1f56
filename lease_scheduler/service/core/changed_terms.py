"""Texts for the history of a lease that say which of its terms a change has changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lease_scheduler.model.durations import exactly
from lease_scheduler.model.lease import UNLIMITED

#: Keys of a lease document whose values are instants, and durations in seconds.
_INSTANTS = frozenset({"start", "end", "deadline", "before_end"})
_DURATIONS = frozenset({"duration", "min_lifetime"})

#: Maximum number of characters of a value that is shown. Of a longer one, only the key is named.
_SHOWN = 60


def changed_terms(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what differs between two lease documents, such as ``changed: duration 2 h (was 1 h)``.

    :return: an empty text if nothing differs
    """
    changed = [_difference(key, before.get(key), after[key]) for key in after if before.get(key) != after[key]]
    return f"changed: {', '.join(changed)}" if changed else ""


def in_utc(instant: int) -> str:
    """Return an instant as the history shows it."""
    return f"{datetime.fromtimestamp(instant, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _difference(key: str, old: Any, new: Any) -> str:
    name = key.replace("_", " ")
    texts = [_text(key, value) for value in (new, old)]
    if any(text is None for text in texts):
        return name
    return f"{name} {texts[0]} (was {texts[1]})"


def _text(key: str, value: Any) -> str | None:
    """Return a value as text, or None if it is too long or structured to be shown."""
    if value is None or value == "":
        return "none"
    if key in _INSTANTS:
        return in_utc(value)
    if key in _DURATIONS:
        return "without end" if value >= UNLIMITED else exactly(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text if isinstance(value, str | int | float) and len(text) <= _SHOWN else None
