"""Feeds: secret addresses at which calendar programs read the leases of a project."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import feeds
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import feeds as feed_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/feeds",
        feeds.list_feeds,
        "feeds:get",
        200,
        "List feeds",
        since=mv.V1_22,
        query=feed_schemas.LIST_QUERY,
        answer=feed_schemas.several,
    ),
    Route(
        "POST",
        "/v1/feeds",
        feeds.create_feed,
        "feeds:post",
        201,
        "Make a feed: a secret address at which calendar programs read the leases of the project",
        since=mv.V1_22,
        body=feed_schemas.create,
        answer=feed_schemas.created,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/feeds/{feed_id}",
        feeds.show,
        "feeds:get",
        200,
        "Show a feed",
        since=mv.V1_22,
        subject="feed",
        answer=feed_schemas.one,
    ),
    Route(
        "DELETE",
        "/v1/feeds/{feed_id}",
        feeds.delete_feed,
        "feeds:delete",
        204,
        "Withdraw a feed",
        since=mv.V1_22,
        subject="feed",
        changes=True,
    ),
    # Calendar programs send neither a token nor a microversion.
    Route(
        "GET",
        feeds.SECRET_PATH,
        feeds.show_leases,
        None,
        200,
        "The leases of a project as an iCalendar feed, for anybody who knows the secret address",
        content_type="text/calendar",
        conditional=True,
    ),
)
