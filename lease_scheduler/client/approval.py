"""Commands that approve and decline leases."""

from __future__ import annotations

import argparse

from lease_scheduler.client import terms
from lease_scheduler.client.base import LeaseCommand, add_lease
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document


class _Decision(LeaseCommand):
    """A decision on a lease that awaits approval."""

    #: Name of the action.
    action = ""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        parser.add_argument("--reason", metavar="<text>", help="Reason to tell the project")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        asked = {} if parsed.reason is None else {"reason": parsed.reason}
        return client.act(parsed.lease, self.action, asked, terms.APPROVAL)


class ApproveLease(_Decision):
    """Approve a lease that awaits approval."""

    action = "approve"


class DeclineLease(_Decision):
    """Decline a lease that awaits approval, which ends it."""

    action = "decline"
