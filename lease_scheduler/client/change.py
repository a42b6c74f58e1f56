"""Commands that change when and where a lease runs, and commands for held leases."""

from __future__ import annotations

import argparse

from lease_scheduler.client import arguments, terms
from lease_scheduler.client.base import LeaseCommand, add_lease
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document


def _add_span(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    span = parser.add_mutually_exclusive_group(required=True)
    span.add_argument("--by", metavar="<duration>", help="By how much, such as 2h30m")
    span.add_argument("--end", metavar="<date>", dest="end_date", help="New end")
    span.add_argument("--duration", metavar="<duration>", help="New total duration")
    return span


def _span(parsed: argparse.Namespace) -> Document:
    keys = ("by", "end_date", "duration", "max_price")
    return {key: value for key in keys if (value := getattr(parsed, key)) is not None}


def _change(client: LeaseClient, parsed: argparse.Namespace, action: str, asked: Document) -> Document:
    """Change a lease, or ask what the change would come to."""
    if parsed.quote or parsed.budget:
        path = f"/leases/{client.find_lease(parsed.lease)}/quote"
        version = terms.BUDGETS if parsed.budget else terms.NEGOTIATION
        return client.one("POST", path, version, "quote", {action: asked})
    return client.act(parsed.lease, action, asked, terms.NEGOTIATION if "max_price" in asked else "1.7")


def _add_quote(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quote", action="store_true", help="Change nothing; show what the change would come to and cost"
    )
    parser.add_argument(
        "--budget", action="store_true", help="As --quote, and show what would be left of the project's budgets"
    )


class ExtendLease(LeaseCommand):
    """Extend a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        _add_span(parser)
        terms.add_price_of_change(parser)
        _add_quote(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return _change(client, parsed, "extend", _span(parsed))


class ShrinkLease(LeaseCommand):
    """End a lease earlier, or give back some of its nodes."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        _add_span(parser).add_argument(
            "--reservation",
            metavar="<key=value,...>",
            type=arguments.changed_reservation,
            action="append",
            help="Change of one of its reservations: id=<id>,amount=1, or JSON; repeat for further ones",
        )
        terms.add_price_of_change(parser)
        _add_quote(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        asked = _span(parsed)
        if parsed.reservation:
            asked["reservations"] = parsed.reservation
        return _change(client, parsed, "shrink", asked)


class MoveLease(LeaseCommand):
    """Move a lease to other hosts, or to another time."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        parser.add_argument(
            "--away-from", metavar="<host>", action="append", help="Host to leave (admin only); repeat for more"
        )
        parser.add_argument("--start", metavar="<date>", help="New start; without --end, the lease keeps its length")
        parser.add_argument("--end", metavar="<date>", help="New end")
        terms.add_price_of_change(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        given = {
            "hosts_away": parsed.away_from,
            "start_date": parsed.start,
            "end_date": parsed.end,
            "max_price": parsed.max_price,
        }
        asked = {key: value for key, value in given.items() if value is not None}
        return client.act(parsed.lease, "move", asked, terms.NEGOTIATION if "max_price" in asked else "1.7")


class CounterLease(LeaseCommand):
    """Ask for other terms for a held lease; if they cannot be granted, it is held as before."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        terms.add_times(parser)
        parser.add_argument(
            "--reservation",
            metavar="<key=value,...>",
            type=arguments.changed_reservation,
            action="append",
            help="Change of one of its reservations: id=<id>,amount=1, or JSON; repeat for further ones",
        )
        terms.add_price_of_change(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "counter", terms.body_of(parsed), terms.NEGOTIATION)


class AcceptLease(LeaseCommand):
    """Accept a held lease, at the price of its quote."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "accept", {}, terms.PRICES)


class RejectLease(LeaseCommand):
    """Reject a held lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "reject", {}, terms.PRICES)


class ReadyLease(LeaseCommand):
    """Say that all servers of a lease are ready to be preempted, so that the rest of the warning can be skipped."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "ready", {}, terms.READY)


class EndLease(LeaseCommand):
    """End a lease now, as if it had reached its end."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "end", {})
