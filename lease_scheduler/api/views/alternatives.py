"""What would be possible instead of what was refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.interfaces import Document


def show_alternatives(alternatives: Iterable[Mapping[str, Any]]) -> list[Document]:
    """Alternatives in an answer."""
    shown = []
    for alternative in alternatives:
        one: Document = {
            "start": iso_date(alternative.get("start")),
            "end": iso_date(alternative.get("end")),
            "count": alternative.get("count"),
        }
        if alternative.get("change"):
            one["change"] = str(alternative["change"])
        shown.append(one)
    return shown
