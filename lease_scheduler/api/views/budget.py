"""Budgets, as answers show them."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.api.dates import iso_date
from lease_scheduler.model.documents import Document


def show_budget(lines: Iterable[Document] | None) -> list[Document] | None:
    """Return the budgets of a project by period and measure, or None if the site has none."""
    if lines is None:
        return None
    return [
        {
            "start": iso_date(line["start"]),
            "end": iso_date(line["end"]),
            "measure": line["measure"],
            **{name: round(line[name], 6) for name in ("limit", "used", "reserved", "requested", "left")},
        }
        for line in lines
    ]
