"""Commands for peers: other sites and gateways that request leases here."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from lease_scheduler.client import arguments, output
from lease_scheduler.client.base import ListCommand, PlainCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.peer_limits import ALL_PROJECTS

_VERSION = "1.46"
#: From this microversion on, peers have projects.
_WITH_PROJECTS = "1.50"
_COLUMNS = ("name", "leases", "nodes", "share", "node_hours", "offers", "cost", "limits")


class ListPeers(ListCommand):
    """List peers, with their limits and what they have (administrators)."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        return output.rows(client.request("GET", "/peers", _WITH_PROJECTS)["peers"], _COLUMNS)


class ShowPeer(ShowCommand):
    """Show a peer, with its limits and what it has (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_peer(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.one("GET", _path(parsed), _WITH_PROJECTS, "peer")


class SetPeer(ShowCommand):
    """Set the limits of a peer, all at once: what is not given is no limit (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_peer(parser)
        projects = parser.add_mutually_exclusive_group()
        projects.add_argument(
            "--project",
            dest="projects",
            metavar="<project-id>",
            action="append",
            help="The peer may request leases for this project of the site; repeat for more",
        )
        projects.add_argument(
            "--all-projects",
            dest="projects",
            action="store_const",
            const=ALL_PROJECTS,
            help="The peer may request leases for all projects of the site",
        )
        kinds = [kind.value for kind in LeaseKind]
        parser.add_argument(
            "--kind", dest="kinds", action="append", choices=kinds, help="Only leases of this kind; repeat for more"
        )
        parser.add_argument(
            "--max-nodes", metavar="<number>", type=arguments.natural, help="Most nodes at any instant, or waiting"
        )
        parser.add_argument(
            "--max-share", metavar="<share>", type=arguments.part, help="Largest share of the site, more than 0 up to 1"
        )
        parser.add_argument(
            "--max-node-hours", metavar="<hours>", type=arguments.money, help="Most node-hours that are still to come"
        )
        parser.add_argument("--max-offers", metavar="<number>", type=arguments.natural, help="Most leases held")
        parser.add_argument("--max-cost", metavar="<money>", type=arguments.money, help="Most that its leases cost")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        names = ("projects", "kinds", "max_nodes", "max_share", "max_node_hours", "max_offers", "max_cost")
        limits = {name: value for name in names if (value := getattr(parsed, name)) is not None}
        version = _WITH_PROJECTS if "projects" in limits else _VERSION
        return client.one("PUT", _path(parsed), version, "peer", limits)


class DeletePeer(PlainCommand):
    """Remove the limits of a peer; its leases stay (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_peer(parser)

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        client.request("DELETE", _path(parsed), _VERSION)


def _add_peer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("peer", metavar="<peer>", help="Name of the peer")


def _path(parsed: argparse.Namespace) -> str:
    return f"/peers/{quote(parsed.peer, safe='')}"
