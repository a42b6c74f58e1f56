"""Feeds: secret addresses at which calendar programs read the leases of a project."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema

LIST_QUERY = (
    base.Parameter("all_projects", base.BOOLEAN, "Include the feeds of all projects"),
    base.Parameter("project_id", base.text(255, 1), "Only those of this project"),
)

_FEED: dict[str, Schema] = {
    "id": base.STRING,
    "project_id": base.STRING,
    "user_id": base.STRING,
    "name": base.STRING,
    "created_at": base.MAYBE_ISO_DATE,
}


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /feeds."""
    del version
    return base.closed({"name": base.name()}, ["name"])


def created(version: Version) -> Schema:
    """Return the schema of the answer of POST /feeds, the only one with the secret address."""
    del version
    return base.wrapped("feed", base.answer({**_FEED, "url": base.STRING}))


def one(version: Version) -> Schema:
    """Return the schema of the answer with one feed."""
    del version
    return base.wrapped("feed", base.answer(_FEED))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of feeds."""
    del version
    return base.wrapped("feeds", base.array(base.answer(_FEED)))
