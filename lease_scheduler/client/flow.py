"""Commands for flows: the projects among which a site is shared."""

from __future__ import annotations

import argparse
from urllib.parse import quote

from osc_lib import exceptions

from lease_scheduler.client import output
from lease_scheduler.client.base import ListCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

_VERSION = "1.25"
_COLUMNS = ("name", "weight", "share", "share_of_last_day", "owed_host_hours", "queued")


class ListFlows(ListCommand):
    """List the share and the weight of the project, or of all projects."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--all-projects", action="store_true", default=None, help="Flows of all projects (administrators)"
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", "/flows", _VERSION, query={"all_projects": parsed.all_projects})["flows"]
        return output.rows(found, _COLUMNS)


class ShowFlow(ShowCommand):
    """Show the share of a project, and when its queued leases are expected to start, or why they cannot."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("flow", metavar="<project>", help="Project (ID)")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.one("GET", f"/flows/{quote(parsed.flow, safe='')}", "1.31", "flow")


class SetFlow(ShowCommand):
    """Set the weight of a project (administrators)."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("flow", metavar="<project>", help="Project (ID)")
        parser.add_argument("--weight", type=float, metavar="<number>", help="Weight relative to other projects")
        parser.add_argument("--no-weight", action="store_true", help="Use the configured weight again")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        if (parsed.weight is None) != parsed.no_weight:
            raise exceptions.CommandError("give either --weight or --no-weight")
        path = f"/flows/{quote(parsed.flow, safe='')}"
        return client.one("PUT", path, _VERSION, "flow", {"weight": parsed.weight})
