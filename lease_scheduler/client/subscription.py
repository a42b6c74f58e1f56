"""Commands for subscriptions: where notifications about the leases of a project are sent."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from lease_scheduler.client import output
from lease_scheduler.client.base import ListCommand, PlainCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

_VERSION = "1.20"


def _add_subscription(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subscription", metavar="<subscription>", help="Subscription (ID)")


def _path(parsed: argparse.Namespace) -> str:
    return f"/subscriptions/{quote(parsed.subscription, safe='')}"


class CreateSubscription(ShowCommand):
    """Subscribe to notifications; the secret is shown only now."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--webhook", metavar="<url>", help="Send signed HTTP requests to this URL")
        target.add_argument("--mail", metavar="<address>", help="Send mails to this address")
        parser.add_argument(
            "--event", metavar="<event-type>", action="append", help="Only events of this type; repeat for more"
        )
        parser.add_argument("--lease", metavar="<lease>", help="Only events of this lease (name or ID)")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        driver = "webhook" if parsed.mail is None else "mail"
        body: Document = {"driver": driver, "target": parsed.webhook or parsed.mail}
        if parsed.event is not None:
            body["event_types"] = parsed.event
        if parsed.lease is not None:
            body["lease_id"] = client.find_lease(parsed.lease)
        return client.one("POST", "/subscriptions", _VERSION, "subscription", body)


class ListSubscriptions(ListCommand):
    """List the subscriptions of the project."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--all-projects", action="store_true", default=None, help="Subscriptions of all projects (administrators)"
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        query = {"all_projects": parsed.all_projects}
        found = client.request("GET", "/subscriptions", _VERSION, query=query)["subscriptions"]
        return output.rows(found, ("id", "driver", "target", "lease_id", "waiting", "last_error"))


class ShowSubscription(ShowCommand):
    """Show a subscription, with failed attempts and the latest error."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_subscription(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.one("GET", _path(parsed), _VERSION, "subscription")


class DeleteSubscription(PlainCommand):
    """Delete a subscription, and what waits to be sent to it."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_subscription(parser)

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        client.request("DELETE", _path(parsed), _VERSION)
