"""Commands for availability, quotes, history, hosts, usage and the feed. Only a held quote changes anything."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from lease_scheduler.client import arguments, output, site, terms
from lease_scheduler.client.base import LeaseCommand, ListCommand, PlainCommand, Table, add_lease, for_people
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document


class ShowAvailability(ListCommand):
    """List when a reservation of nodes would be granted, and which leases would be preempted for it."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--start", metavar="<date>", help="Start of the search (default: now)")
        parser.add_argument("--end", metavar="<date>", help="End of the search (default: seven days after its start)")
        parser.add_argument(
            "--duration",
            metavar="<duration>",
            help="Duration for which nodes must be free, such as 2h30m (default: one hour)",
        )
        parser.add_argument("--free", action="store_true", help="Only when nodes are free without preempting any lease")
        parser.add_argument(
            "--pool", metavar="<pool>", help="In this pool (default: the first that the project may use)"
        )
        parser.add_argument(
            "--nodes",
            metavar="<key=value,...>",
            type=arguments.node_set,
            required=True,
            help="Required nodes: count=2,vcpus=4,memory_mb=8192,disk_gb=20,CUSTOM_GPU=1,trait=HW_CPU_X86_AVX512,"
            "group=VGPU:1@CUSTOM_NVIDIA_11,properties=<query>,exclusive=true,per_host=1, or JSON",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        nodes = parsed.nodes
        needed = {**nodes.get("resources", {}), **nodes.get("least_resources", {})}
        resources = ",".join(f"{name}:{amount}" for name, amount in needed.items())
        groups = [_group(group) for group in nodes.get("groups", [])]
        query = {
            "start": parsed.start,
            "end": parsed.end,
            "duration": parsed.duration,
            "count": nodes.get("count"),
            "resources": resources or None,
            "traits": ",".join(nodes.get("traits", [])) or None,
            "groups": ",".join(groups) or None,
            "properties": nodes.get("properties"),
            "exclusive": nodes.get("exclusive"),
            "per_host": nodes.get("per_host"),
        }
        version = terms.GROUPS if groups else terms.PREEMPTION_ADVICE
        if parsed.pool is not None:
            query["pool"], version = parsed.pool, terms.POOLS
        found = client.request("GET", "/availability", version, query=query)["availability"]
        if parsed.free:
            return output.rows(found["free"]["windows"], ("start", "end", "count"))
        return output.rows(found["windows"], ("start", "end", "count", "preempted_kinds"))


def _group(group: Mapping[str, Any]) -> str:
    """Return a group of nodes as the query parameter has it."""
    amounts = "/".join(f"{name}:{amount}" for name, amount in group["resources"].items())
    return "@".join([amounts, *(["/".join(group["traits"])] if group.get("traits") else [])])


class CreateQuote(LeaseCommand):
    """Show what a lease would come to, without making it, or hold it until it is accepted."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        terms.add_terms(parser)
        site.add_choice(parser)
        parser.add_argument(
            "--hold",
            action="store_const",
            const=True,
            help="Keep its place and price until the quote is accepted or rejected, or expires",
        )
        parser.add_argument(
            "--counter-offers",
            metavar="<number>",
            type=arguments.positive,
            help="Maximum number of other leases to hold if it cannot be granted; accepting one withdraws the rest",
        )
        parser.add_argument("--latest-start", metavar="<date>", help="Latest start of these leases")
        parser.add_argument(
            "--fewest-nodes", metavar="<number>", type=arguments.positive, help="Minimum number of their nodes"
        )
        parser.add_argument("--shortest-duration", metavar="<duration>", help="Their shortest duration")
        parser.add_argument("--budget", action="store_true", help="Show what would be left of the project's budgets")
        parser.add_argument("--approval", action="store_true", help="Show whether the lease would have to be approved")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        body = terms.body_of(parsed)
        limits = ("latest_start", "fewest_nodes", "shortest_duration")
        flexibility = {key: value for key in limits if (value := getattr(parsed, key)) is not None}
        if flexibility:
            body["flexibility"] = flexibility
        version = terms.later(terms.version_of(body), terms.NEGOTIATION if flexibility else terms.PRICES)
        if body.get("kind") in terms.INTERRUPTED:
            version = terms.later(version, terms.INTERRUPTIONS)
        if parsed.hold and body.get("kind") in terms.WITHOUT_START:
            version = terms.later(version, terms.HOLDS)
        if parsed.budget:
            version = terms.later(version, terms.BUDGETS)
        if parsed.approval:
            version = terms.later(version, terms.APPROVAL)
        version = site.chosen_version(client, parsed, version)
        return client.one("POST", "/quotes", version, "quote", body)


class ShowHistory(ListCommand):
    """List what happened to a lease, why, and who asked for it."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--long", action="store_true", help="Also show who asked for it")
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", f"/leases/{client.find_lease(parsed.lease)}/history", "1.37")
        columns = ["time", "from", "to", "reason"]
        if parsed.long or not for_people(parsed):
            columns += ["user_id", "project_id", "by_operator"]
        return output.rows(found["history"], columns)


class ShowUsage(ListCommand):
    """List the node-hours and resource-hours that projects used, and what was earned from them."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--penalties",
            action="store_true",
            help="Show the revenue, terms that were not kept, and the penalties for them",
        )
        parser.add_argument("--revenue", action="store_true", help="Show what was earned and what was missed")
        parser.add_argument(
            "--by",
            metavar="<interval>",
            help="One line for each interval with any usage: day, hour (both in UTC), or a number of seconds",
        )
        parser.add_argument("--start", metavar="<date>", help="Start of the period (default: 30 days before its end)")
        parser.add_argument("--end", metavar="<date>", help="End of the period (default: now)")
        whose = parser.add_mutually_exclusive_group()
        whose.add_argument("--project", metavar="<project-id>", help="Usage of this project (default: your own)")
        whose.add_argument("--all-projects", action="store_true", help="Usage of all projects (admin only)")
        whose.add_argument(
            "--capacity",
            action="store_true",
            help="Usage of all projects together and the capacity of the site, for every interval; by day without --by "
            "(admin only)",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        query = {
            "start": parsed.start,
            "end": parsed.end,
            "project_id": parsed.project,
            "all_projects": parsed.all_projects or parsed.capacity or None,
        }
        columns = ["project_id", "node_hours", "resource_hours", "kinds"]
        if parsed.by or parsed.capacity:
            query["interval"] = parsed.by or "day"
            found = client.request("GET", "/usage", terms.USAGE_HISTORY, query=query)
            return _steps(found, revenue=parsed.revenue, capacity=parsed.capacity)
        if parsed.penalties:
            found = client.request("GET", "/usage", terms.NEGOTIATION, query=query)
            return output.rows(found["usage"], [*columns, "revenue", "breaches"])
        if parsed.revenue:
            found = client.request("GET", "/usage", terms.PRICES, query=query)
            return output.rows(found["usage"], [*columns, "revenue"])
        return output.rows(client.request("GET", "/usage", "1.10", query=query)["usage"], columns)


def _steps(found: Document, *, revenue: bool, capacity: bool) -> Table:
    """Return a table for spreadsheets: a line for each step, and a column for each resource class."""
    if capacity:
        steps = found["history"]
    else:
        steps = [
            {"project_id": project["project_id"], **step} for project in found["usage"] for step in project["history"]
        ]
    classes = sorted({name for step in steps for name in step["resource_hours"] | step.get("capacity_hours", {})})
    columns = [*([] if capacity else ["project_id"]), "start", "end", "node_hours"]
    for name in classes:
        columns += [f"{name}_hours", *([f"{name}_capacity_hours"] if capacity else [])]
    if revenue and not capacity:
        columns += ["earned", "undercharged", "rejected", "rejected_by_user"]
    lines = []
    for step in steps:
        hours = {f"{name}_hours": step["resource_hours"].get(name, 0.0) for name in classes}
        of_all = {f"{name}_capacity_hours": step.get("capacity_hours", {}).get(name, 0.0) for name in classes}
        money = step.get("revenue", {"earned": 0.0, "missed": {}})
        lines.append({**step, **hours, **of_all, "earned": money["earned"], **money["missed"]})
    return columns, [[line.get(name) for name in columns] for line in lines]


class ShowBudget(ListCommand):
    """List what a project may still use in the present period, and in later ones in which it has leases."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--project", metavar="<project-id>", help="Budgets of this project (default: your own; others admin only)"
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        query = {"project_id": parsed.project}
        lines = client.request("GET", "/budget", terms.BUDGETS, query=query)["budget"]["lines"]
        return output.rows(lines or (), ("start", "end", "measure", "limit", "used", "reserved", "left"))


class ShowCapacity(ListCommand):
    """List how many hosts the site can spare or lacks for each promise, judged by past use (admin only).

    With --fewer-hosts, list the least yield of fluid leases if hosts are switched off.
    """

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--start", metavar="<date>", help="Start of the period (default: 90 days before its end)")
        parser.add_argument("--end", metavar="<date>", help="End of the period (default: now)")
        parser.add_argument(
            "--promises",
            metavar="<share,...>",
            help="Shares of the hours with use that are to find enough hosts (default: 0.9,0.95,0.99)",
        )

        parser.add_argument(
            "--fewer-hosts",
            metavar="<number,...>",
            help="Numbers of hosts to switch off, such as 0,1,2: list what fluid leases would get without them",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        query = {"start": parsed.start, "end": parsed.end, "promises": parsed.promises}
        if parsed.fewer_hosts is not None:
            query["fewer_hosts"] = parsed.fewer_hosts
            yields = client.request("GET", "/capacity", terms.FEWER_HOSTS, query=query)["capacity"]["least_yields"]
            return output.rows(yields, ("pool", "fewer", "hosts", "least_yield", "without", "leases", "waiting"))
        found = client.request("GET", "/capacity", terms.CAPACITY, query=query)["capacity"]
        lines = [
            {"present_hosts": found["hosts"], "days": found["days"], "full": found["full"], **need}
            for need in found["promises"]
        ]
        columns = ("promise", "hosts", "can_go", "spare", "lifetime", "present_hosts", "days", "least_days", "full")
        return output.rows(lines, columns)


class ListForecasts(ListCommand):
    """List how often forecasts held, and how often they should have (admin only)."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        found = client.request("GET", "/forecasts", terms.FORECASTS)["forecasts"]
        return output.rows(found, ("name", "pool", "asked", "held", "count", "since"))


class ListPools(ListCommand):
    """List the pools that the project may use, in the order in which they are tried."""

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        return output.rows(client.request("GET", "/pools", terms.POOLS)["pools"], ("name",))


class ShowFeed(PlainCommand):
    """Print the leases of the project as an iCalendar file."""

    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        self.app.stdout.write(client.text("/leases.ics", "1.11", "text/calendar"))
