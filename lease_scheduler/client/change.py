"""Commands that change the span or the places of a lease."""

from __future__ import annotations

import argparse

from lease_scheduler.client import arguments, terms
from lease_scheduler.client.base import ShowCommand, add_lease
from lease_scheduler.client.rest import Document, LeaseClient


def _add_span(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    span = parser.add_mutually_exclusive_group(required=True)
    span.add_argument("--by", metavar="<duration>", help="By how much, as 2h30m")
    span.add_argument("--end", metavar="<date>", dest="end_date", help="New end")
    span.add_argument("--duration", metavar="<duration>", help="New length of the whole")
    return span


def _span(parsed: argparse.Namespace) -> Document:
    return {key: value for key in ("by", "end_date", "duration") if (value := getattr(parsed, key)) is not None}


class ExtendLease(ShowCommand):
    """Let a lease last longer."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        _add_span(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "extend", _span(parsed))


class ShrinkLease(ShowCommand):
    """Let a lease end earlier, or give back part of it."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        _add_span(parser).add_argument(
            "--reservation",
            metavar="<key=value,...>",
            type=arguments.changed_reservation,
            action="append",
            help="What becomes of one of its reservations: id=<id>,amount=1, or JSON; repeat for further ones",
        )

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        asked = _span(parsed)
        if parsed.reservation:
            asked["reservations"] = parsed.reservation
        return client.act(parsed.lease, "shrink", asked)


class MoveLease(ShowCommand):
    """Move a lease to other hosts, or to another time."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        parser.add_argument(
            "--away-from", metavar="<host>", action="append", help="Host to leave (admin only); repeat for more"
        )
        parser.add_argument("--start", metavar="<date>", help="New start")
        parser.add_argument("--end", metavar="<date>", help="New end")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        given = {"hosts_away": parsed.away_from, "start_date": parsed.start, "end_date": parsed.end}
        asked = {key: value for key, value in given.items() if value is not None}
        return client.act(parsed.lease, "move", asked)


class AcceptLease(ShowCommand):
    """Take a lease that is held, at the price of its quote."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "accept", {}, terms.PRICES)


class RejectLease(ShowCommand):
    """Turn down a lease that is held."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "reject", {}, terms.PRICES)


class EndLease(ShowCommand):
    """End a lease now, as if its time had come."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        return client.act(parsed.lease, "end", {})
