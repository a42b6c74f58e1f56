"""Commands that create, list, show, change and delete leases."""

from __future__ import annotations

import argparse

from osc_lib import exceptions

from lease_scheduler.client import arguments, output, site, terms
from lease_scheduler.client.base import LeaseCommand, ListCommand, PlainCommand, Table, add_lease, for_people
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.client.waiting import Waiting
from lease_scheduler.model.approval import AWAITING_APPROVAL
from lease_scheduler.model.documents import Document

#: What ``show`` shows only on request, because it needs a newer microversion: option, microversion, keys.
_SHOWN_SINCE = (
    ("price", terms.PRICES, frozenset({"price", "max_price", "expires_at"})),
    ("breaches", terms.NEGOTIATION, frozenset({"breaches", "penalties", "negotiation_id"})),
    ("idle", terms.IDLE, frozenset({"idle_since"})),
    ("pool", terms.POOLS, frozenset({"pool"})),
    ("promise", terms.ASSURANCE, frozenset({"promise"})),
    ("expectation", terms.FORECASTS, frozenset({"expectation"})),
    ("preemption", terms.INTERRUPTIONS, frozenset({"preempted_at", "latest_end"})),
    ("approval", terms.APPROVAL, frozenset({"approval"})),
    ("site", terms.SITE_OF_LEASE, frozenset({"site", "site_lease_id", "unreachable"})),
    ("share", terms.FLUID, frozenset({"yield", "virtual_time", "stretch"})),
)


class CreateLease(LeaseCommand):
    """Request a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        terms.add_terms(parser)
        site.add_choice(parser)
        parser.add_argument(
            "--id",
            metavar="<uuid>",
            help="ID of the lease, a new UUID; with it, repeating the command creates no second lease",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="Wait until the lease is active: a queued one until it has a place, one for a later time until its "
            "start; fail if it ends before",
        )
        parser.add_argument(
            "--timeout",
            metavar="<duration>",
            type=arguments.duration,
            help="With --wait, how long to wait at most, such as 10m (default: without limit); the lease is kept",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        if parsed.timeout is not None and not parsed.wait:
            raise exceptions.CommandError("--timeout limits --wait: give both, or neither.")
        body = terms.body_of(parsed)
        version = site.chosen_version(client, parsed, terms.later(terms.version_of(body), terms.PRICES))
        lease = client.one("POST", "/leases", version, "lease", body)
        if not parsed.wait:
            return lease
        path, query = f"/leases/{lease['id']}", {"deleted": True}

        def look() -> Document:
            return client.one("GET", path, version, "lease", query=query, patient=True)

        return Waiting(self.app.stderr, parsed.timeout).until_active(lease, look)


class ListLeases(ListCommand):
    """List leases."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", metavar="<name>", help="Only leases of this name")
        parser.add_argument("--kind", choices=terms.KINDS, help="Only leases of this kind")
        parser.add_argument("--state", metavar="<state>", help="Only leases in this state")
        parser.add_argument("--status", metavar="<status>", help="Only leases with this status, in Blazar's terms")
        parser.add_argument("--project", metavar="<project-id>", help="Only leases of this project (admin only)")
        parser.add_argument("--all-projects", action="store_true", help="Leases of all projects (admin only)")
        parser.add_argument("--series", metavar="<series>", help="Only leases of this series (name or ID)")
        parser.add_argument("--pool", metavar="<pool>", help="Only leases of this pool")
        parser.add_argument("--site", metavar="<site>", help="Only leases at this site behind the gateway")
        parser.add_argument("--deleted", action="store_true", help="Include deleted leases")
        parser.add_argument(
            "--sort", metavar="<key>[:<direction>]", type=arguments.sorting, help="Sort by a key, asc or desc"
        )
        parser.add_argument(
            "--limit", metavar="<number>", type=arguments.positive, help="Maximum number of leases to list"
        )
        parser.add_argument("--marker", metavar="<lease-id>", help="Start after this lease")
        parser.add_argument("--long", action="store_true", help="More columns, the ID first")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        key, direction = parsed.sort or (None, None)
        query: Document = {
            "name": parsed.name,
            "kind": parsed.kind,
            "state": parsed.state,
            "status": parsed.status,
            "project_id": parsed.project,
            "all_projects": parsed.all_projects or None,
            "sort_key": key,
            "sort_dir": direction,
            "marker": parsed.marker,
        }
        version = "1.2"
        if parsed.deleted:
            query["deleted"], version = True, "1.4"
        if parsed.series:
            query["series_id"], version = client.find_series(parsed.series), "1.9"
        if parsed.state == AWAITING_APPROVAL:
            version = terms.APPROVAL
        is_brief = for_people(parsed) and not parsed.long
        columns = list(output.BRIEF_COLUMNS if is_brief else output.LEASE_COLUMNS)
        if parsed.pool is not None:
            query["pool"], version = parsed.pool, terms.later(version, terms.POOLS)
            columns.append("pool")
        if parsed.site is not None:
            site.sites_of(client)
            query["site"], version = parsed.site, terms.later(version, terms.SITES)
            columns.append("site")
        if parsed.long:
            columns += ["project_id", "duration", "deadline", "preemptible", "degraded", "reason"]
        found = client.leases(version, query, parsed.limit)
        return output.brief_rows(found, columns) if is_brief else output.rows(found, columns)


class ShowLease(LeaseCommand):
    """Show a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        parser.add_argument("--deleted", action="store_true", help="Show it even if it is deleted (by ID only)")
        parser.add_argument("--price", action="store_true", help="Also show its price, and how long it is held")
        parser.add_argument("--breaches", action="store_true", help="Also show the terms that were not kept")
        parser.add_argument("--idle", action="store_true", help="Also show since when its servers use nothing")
        parser.add_argument("--pool", action="store_true", help="Also show its pool")
        parser.add_argument("--promise", action="store_true", help="Also show for how long it is promised to run")
        parser.add_argument("--expectation", action="store_true", help="Also show by when it is expected to start")
        parser.add_argument(
            "--preemption", action="store_true", help="Also show when it is preempted, and by when it ends"
        )
        parser.add_argument(
            "--approval", action="store_true", help="Also show whether it awaits approval, or what became of that"
        )
        parser.add_argument(
            "--site", action="store_true", help="Also show its site behind a gateway, its ID there, and if it answers"
        )
        parser.add_argument("--share", action="store_true", help="Also show how it shares CPU, and how far it has come")
        parser.add_argument("--all", action="store_true", help="Show everything that the newest microversion has")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        path = f"/leases/{client.find_lease(parsed.lease)}"
        version, query = ("1.4", {"deleted": True}) if parsed.deleted else ("1.3", None)
        for option, needed, keys in _SHOWN_SINCE:
            if getattr(parsed, option) or keys & set(parsed.columns):
                version = terms.later(version, needed)
        if parsed.all:
            version = "latest"
        return client.one("GET", path, version, "lease", query=query)


class SetLease(LeaseCommand):
    """Change a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        parser.add_argument("--name", metavar="<name>", help="New name")
        terms.add_times(parser)
        terms.add_changed_attributes(parser)
        parser.add_argument(
            "--reservation",
            metavar="<key=value,...>",
            type=arguments.changed_reservation,
            action="append",
            help="Change of one of its reservations: id=<id>,amount=3, or JSON; repeat for further ones",
        )
        parser.add_argument(
            "--if-version",
            metavar="<number>",
            type=arguments.positive,
            help="Change the lease only if it still has this version",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        body = terms.body_of(parsed)
        if parsed.if_version is not None:
            body["version"] = parsed.if_version
        path = f"/leases/{client.find_lease(parsed.lease)}"
        return client.one("PUT", path, terms.version_of_change(body), "lease", body)


class DeleteLease(PlainCommand):
    """Cancel leases and remove them from the list."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("leases", metavar="<lease>", nargs="+", help="Leases (name or ID)")
        parser.add_argument("--reason", metavar="<text>", help="Reason to record in the history")

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        for lease in parsed.leases:
            if parsed.reason is None:
                client.request("DELETE", f"/leases/{client.find_lease(lease)}", "1.0")
            else:
                client.act(lease, "cancel", {"reason": parsed.reason})
