"""Commands for administrators, which keep hosts free of leases."""

from __future__ import annotations

import argparse

from lease_scheduler.client import output
from lease_scheduler.client.base import ListCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document


class CreateMaintenance(ShowCommand):
    """Keep hosts free for a time; leases that have not started there are moved elsewhere."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", metavar="<name>", help="Name of the maintenance")
        parser.add_argument(
            "--host", metavar="<host>", action="append", required=True, help="Host (name or ID); repeat for more"
        )
        parser.add_argument("--start", metavar="<date>", default="now", help="Start (default: now)")
        length = parser.add_mutually_exclusive_group(required=True)
        length.add_argument("--end", metavar="<date>", help="End")
        length.add_argument("--duration", metavar="<duration>", help="Duration, such as 2h30m")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        body = {"name": parsed.name, "hosts": parsed.host, "start_date": parsed.start}
        if parsed.end is not None:
            body["end_date"] = parsed.end
        else:
            body["duration"] = parsed.duration
        return client.one("POST", "/maintenances", "1.8", "maintenance", body)


class ListMaintenances(ListCommand):
    """List the maintenances; `lease delete` ends one."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", "/maintenances", "1.8")["maintenances"]
        for each in found:
            each["hosts"] = sorted({host for part in each["reservations"] for host in part.get("hosts", [])})
        return output.rows(found, ("id", "name", "state", "start_date", "end_date", "hosts"))
