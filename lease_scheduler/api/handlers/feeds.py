"""Feeds: secret addresses at which calendar programs read the leases of a project without a token."""

from __future__ import annotations

import hmac
import uuid

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import ApiError, not_found
from lease_scheduler.api.handlers.feed import leases_of
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document
from lease_scheduler.records.feeds import digest_of, new_secret

#: Path of a secret address. Its variable part must not get into logs.
SECRET_PATH = "/v1/feeds/{secret}/leases.ics"


def list_feeds(request: ApiRequest) -> Answer:
    """List the feeds of the caller's project; administrators may list those of others."""
    project_id = wanted_projects(request, "feeds:all_projects")
    return Answer({"feeds": [_shown(each) for each in request.reader.feeds(project_id)]})


def create_feed(request: ApiRequest) -> Answer:
    """Make a feed. Its address is in this answer only, since only a digest of the secret is stored."""
    secret = new_secret()
    feed = {
        "id": str(uuid.uuid4()),
        "project_id": request.caller.project_id,
        "user_id": request.caller.user_id,
        "name": request.body["name"],
        "digest": digest_of(secret),
    }
    request.engine.create_feed(request.context(), feed)
    made = request.reader.feed(feed["id"])
    if made is None:
        raise not_found(feed_id=feed["id"])
    url = request.base_url + SECRET_PATH.format(secret=secret)
    return Answer({"feed": {**_shown(made), "url": url}}, headers={"Cache-Control": "no-store"})


def show(request: ApiRequest) -> Answer:
    """Show a feed, without its address."""
    return Answer({"feed": _shown(request.named)})


def delete_feed(request: ApiRequest) -> Answer:
    """Withdraw a feed. Its address is no longer served."""
    request.engine.delete_feed(request.context(), request.named["id"])
    return Answer()


def show_leases(request: ApiRequest) -> Answer:
    """Return the leases of the project whose secret is in the path.

    :raises ApiError: 404, there is no such secret, or its feed was withdrawn; the answer does not tell which
    """
    digest = digest_of(request.arguments["secret"])
    found = request.reader.feed_owner(digest) if request.services.settings.feeds else None
    # The database has compared digests, which reveal nothing about the secret; this only confirms the result.
    if found is None or not hmac.compare_digest(found[1], digest):
        raise ApiError(404, "there is no feed at this address")
    return leases_of(request, found[0])


def _shown(feed: Document) -> Document:
    return {
        **{key: feed[key] for key in ("id", "project_id", "user_id", "name")},
        "created_at": iso_date(feed["created_at"]),
    }
