"""Commands for series: leases that repeat."""

from __future__ import annotations

import argparse

from lease_scheduler.client import output, terms
from lease_scheduler.client.base import ListCommand, PlainCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document


def _add_series(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("series", metavar="<series>", help="Series (name or ID)")


class CreateSeries(ShowCommand):
    """Request a lease that repeats; some of its occurrences may be refused."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        terms.add_terms(parser)
        parser.add_argument(
            "--rule",
            metavar="<rule>",
            required=True,
            help="Rule by which it repeats, as in iCalendar: FREQ=WEEKLY;BYDAY=MO;COUNT=10",
        )

        parser.add_argument(
            "--time-zone",
            metavar="<zone>",
            help="Time zone whose clocks it follows, such as Europe/Berlin: 08:00 stays 08:00 all year (default: UTC)",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        lease = terms.body_of(parsed)
        body = {"name": parsed.name, "rule": parsed.rule, "lease": lease}
        since = "1.9"
        if parsed.time_zone is not None:
            body["time_zone"], since = parsed.time_zone, "1.36"
        return client.one("POST", "/series", terms.later(terms.version_of(lease), since), "series", body)


class ListSeries(ListCommand):
    """List the series."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", "/series", "1.9")["series"]
        return output.rows(found, ("id", "name", "rule", "project_id", "created_at"))


class ShowSeries(ShowCommand):
    """Show a series and the IDs of its leases."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_series(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        path = f"/series/{client.find_series(parsed.series)}"
        return client.one("GET", path, "1.9", "series")


class DeleteSeries(PlainCommand):
    """End a series, and delete its leases that have not started."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        _add_series(parser)

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        client.request("DELETE", f"/series/{client.find_series(parsed.series)}", "1.9")
