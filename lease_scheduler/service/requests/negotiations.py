"""Counter-offers for requests that cannot be met (haizea F8, F95)."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID, uuid5

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.before_end import Span, moved_instant
from lease_scheduler.service.core.terms import with_count
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.quotes import Quotes

#: Namespace of the ids of counter-offers, which are computed from the id of the requested lease.
_OFFERS = UUID("2b6c0f2e-7f65-4b0e-9d61-5c8f0a4b7d19")

#: Maximum number of terms to try for each counter-offer that is wanted. Some may be refused, for example by limits, or
#: because other leases would have to be preempted before the project accepts.
_TRIES = 6


class Negotiations:
    """Operation that makes offers, or counter-offers for requests that cannot be granted.

    Every offer holds hosts of its own, because offers that share hosts would be safe only while nothing changes the
    plan. So a project holds no more than its limits allow, and each of its offers has a place if it is accepted.

    :param site: the plan of the site
    :param leases: makes the offers
    :param quotes: finds the terms that would be granted
    """

    def __init__(self, site: SiteTransactions, leases: Leases, quotes: Quotes) -> None:
        self._site = site
        self._leases = leases
        self._quotes = quotes

    @answers(EngineRequests.offer_lease)
    def offer(self, context: Document, lease: Document) -> Document:
        """Hold a lease for its project, or counter-offers in its place.

        :param lease: may have ``counter_offers``, the maximum number of counter-offers; ``flexibility``, how far they
            may be from the terms (``latest_start``, ``fewest_nodes``, ``shortest_duration``); and ``counter_trusts``,
            a trust for each of them
        :return: the answer of ``Leases.offer``. If the lease cannot be granted, the answer of ``Quotes.quote`` with
            ``negotiation_id`` and ``counter_offers``, a list of answers of ``Leases.offer``, each with its ``change``,
            ``count`` and ``duration``
        :raises RefusedError: neither the lease nor anything similar can be granted
        """
        asked = {key: value for key, value in lease.items() if key not in _OWN_KEYS}
        wanted = min(lease.get("counter_offers") or 0, self._site.options.counter_offers)
        if not wanted:
            return self._leases.offer(context, asked)
        refused = self._quotes.quote(context, asked)
        if refused["granted"]:
            return self._leases.offer(context, asked)
        flexibility = Flexibility(**(lease.get("flexibility") or {}))
        offers = self._counter_offers(context, asked, wanted, flexibility, lease.get("counter_trusts") or ())
        if not offers:
            # Make the request in earnest: it is refused, and the refusal is recorded.
            return self._leases.offer(context, asked)
        return {**refused, "negotiation_id": lease["id"], "counter_offers": offers}

    def _counter_offers(
        self, context: Document, lease: Document, wanted: int, flexibility: Flexibility, trusts: Any
    ) -> list[Document]:
        offers: list[Document] = []
        tried: set[Alternative] = set()
        made: Counter[str] = Counter()
        while len(offers) < wanted and len(tried) < _TRIES * wanted:
            # Ask again, as earlier counter-offers hold hosts now. Prefer the kind of change that was offered least.
            found = [each for each in self._quotes.near(context, lease, flexibility) if each not in tried]
            if not found:
                break
            chosen = min(found, key=lambda each: made[each.change])
            tried.add(chosen)
            other = changed(lease, chosen, len(tried))
            if len(offers) < len(trusts):
                other["trust_id"] = trusts[len(offers)]
            try:
                answer = self._leases.offer(context, other)
            except RefusedError:
                continue
            made[chosen.change] += 1
            terms = {"change": chosen.change, "count": chosen.nodes, "duration": chosen.duration}
            offers.append({**answer, **terms})
        return offers


_OWN_KEYS = frozenset({"counter_offers", "flexibility", "counter_trusts"})


def changed(lease: Document, alternative: Alternative, number: int) -> dict[str, Any]:
    """Return a lease document with other terms and ids of its own.

    :param number: number of the offer in its negotiation
    """
    other = {
        **lease,
        "id": _id(lease["id"], number),
        "negotiation_id": lease["id"],
        "reservations": [{**each, "id": _id(each["id"], number)} for each in lease["reservations"]],
    }
    if alternative.change == "nodes":
        other["reservations"][0] |= with_count(other["reservations"][0], alternative.nodes)
    if LeaseKind(lease["kind"]) is LeaseKind.RESERVATION:
        end = alternative.start + alternative.duration
        before_end = lease.get("before_end")
        if before_end is not None:
            # The instant that the project has given keeps its distance to the end.
            before_end = moved_instant(before_end, Span(lease["start"], lease["end"]), Span(alternative.start, end), 0)
        return {**other, "start": alternative.start, "end": end, "duration": None, "before_end": before_end}
    other["duration"] = alternative.duration
    if lease.get("deadline") is not None:
        other["deadline"] = max(lease["deadline"], alternative.start + alternative.duration)
    return other


def _id(of: str, number: int) -> str:
    return str(uuid5(_OFFERS, f"{of} {number}"))
