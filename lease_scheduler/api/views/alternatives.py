"""Alternatives to requests that were refused, as clients see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.microversions import V1_17, Version
from lease_scheduler.model.documents import Document


def show_alternatives(alternatives: Iterable[Mapping[str, Any]], version: Version) -> list[Document]:
    """Return the alternatives for an answer.

    Before microversion 1.17, only the first alternative with each change is shown, since clients could not tell two of
    them apart.
    """
    shown = []
    changes = set()
    for alternative in alternatives:
        change = alternative.get("change")
        if version < V1_17 and change in changes:
            continue
        if change:
            changes.add(change)
        one: Document = {
            "start": iso_date(alternative.get("start")),
            "end": iso_date(alternative.get("end")),
            "count": alternative.get("count"),
        }
        if alternative.get("change"):
            one["change"] = str(alternative["change"])
        if version >= V1_17:
            one["preempted_kinds"] = dict(alternative.get("preempted", {}))
        shown.append(one)
    return shown
