"""Feeds: secret addresses at which calendar programs read the leases of a project."""

from lease_scheduler.api.access.base import ADMIN, MEMBER, READER, rule

RULES = (
    rule("feeds:get", READER, "List and show feeds without secrets.", "GET /v1/feeds", "GET /v1/feeds/{feed_id}"),
    rule(
        "feeds:post",
        MEMBER,
        "Make a feed: a secret address at which anybody can read the leases of the project.",
        "POST /v1/feeds",
    ),
    rule("feeds:delete", MEMBER, "Withdraw a feed.", "DELETE /v1/feeds/{feed_id}"),
    rule("feeds:all_projects", ADMIN, "List the feeds of all projects.", "GET /v1/feeds"),
)
