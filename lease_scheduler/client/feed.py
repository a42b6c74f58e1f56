"""Commands for feeds: secret addresses at which calendar programs read the leases of a project."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from lease_scheduler.client import output
from lease_scheduler.client.base import ListCommand, PlainCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

_VERSION = "1.22"


class CreateFeed(ShowCommand):
    """Make a secret address for calendar programs; it is shown only now."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", metavar="<name>", help="What reads it, such as phone")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.one("POST", "/feeds", _VERSION, "feed", {"name": parsed.name})


class ListFeeds(ListCommand):
    """List the feeds of the project, without their addresses."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--all-projects", action="store_true", default=None, help="Feeds of all projects (administrators)"
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", "/feeds", _VERSION, query={"all_projects": parsed.all_projects})["feeds"]
        whose = ("project_id", "user_id") if parsed.all_projects else ("user_id",)
        return output.rows(found, ("id", "name", *whose, "created_at"))


class DeleteFeed(PlainCommand):
    """Withdraw a feed; its address is no longer served."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("feed", metavar="<feed>", help="Feed (ID)")

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        client.request("DELETE", f"/feeds/{quote(parsed.feed, safe='')}", _VERSION)
