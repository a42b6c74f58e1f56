"""Commands for the sites behind a gateway, and the options that choose one."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from lease_scheduler.client import output, terms
from lease_scheduler.client.base import ListCommand, NoGatewayError, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

_COLUMNS = ("name", "state", "leases", "unreachable_since", "last_answer_at")


class ListSites(ListCommand):
    """List the sites behind the gateway, and how they answer."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        return output.rows(sites_of(client), _COLUMNS)


class ShowSite(ShowCommand):
    """Show a site behind the gateway, with what it says of itself."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("site", metavar="<site>", help="Name of the site")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        sites_of(client)
        return client.one("GET", f"/sites/{quote(parsed.site, safe='')}", terms.SITES, "site")


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which sites are asked for a lease."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--anywhere",
        action="store_true",
        help="Ask all sites behind the gateway, as without a site, and show which it is",
    )
    choice.add_argument("--site", metavar="<site>", help="Ask only this site behind the gateway")


def chosen_version(client: LeaseClient, parsed: argparse.Namespace, version: str) -> str:
    """Return the microversion of a request that may have the options of ``add_choice``.

    :param version: the microversion that the request needs without them
    :raises NoGatewayError: one is given, and the service is no gateway
    """
    if not parsed.anywhere and parsed.site is None:
        return version
    sites_of(client)
    return terms.later(version, terms.SITES)


def sites_of(client: LeaseClient) -> list[Document]:
    """Return the sites behind the gateway.

    :raises NoGatewayError: the service is no gateway
    """
    found: list[Document] = client.request("GET", "/sites", terms.SITES)["sites"]
    if not found:
        raise NoGatewayError("This service is no gateway, so it has no sites: ask a gateway, or name no site.")
    return found
