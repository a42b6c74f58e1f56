"""The one refusal that the client gets after all members have been tried."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lease_scheduler.federation.answers import Alternative, Refusal
from lease_scheduler.federation.negotiation.record import Negotiation
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class FinalRefusal:
    """Why no member has granted a request.

    :ivar refusals: the refusals, in the order in which members were asked
    :ivar unanswered: names of the members that were asked and did not answer
    :ivar not_asked: names of the members that were not asked, because there was no time left
    :ivar alternatives: the best alternatives of all members
    """

    refusals: tuple[Refusal, ...]
    unanswered: tuple[str, ...]
    not_asked: tuple[str, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def message(self) -> str:
        """All reasons for people."""
        parts = [f"{each.member}: {each.message}" for each in self.refusals]
        parts += [f"{name}: did not answer in time" for name in self.unanswered]
        parts += [f"{name}: was not asked, as there was no time left" for name in self.not_asked]
        return "; ".join(parts)


def final_refusal(record: Negotiation, most_alternatives: int = 3) -> FinalRefusal:
    """Return the refusal of a negotiation in the stage ``REFUSED``.

    Alternatives are better if less of the requested node-seconds is missing, then if they start earlier, and then if
    they cost less.

    :param most_alternatives: maximum number of alternatives
    """
    refusals = tuple(each.refusal for each in record.attempts if each.refusal is not None)
    return FinalRefusal(
        refusals,
        tuple(each.member for each in record.attempts if each.refusal is None and each.is_unanswered),
        tuple(each.name for each in record.untried),
        best_alternatives(refusals, record.ask.terms, most_alternatives),
    )


def best_alternatives(refusals: Iterable[Refusal], terms: LeaseRequest, most: int = 3) -> tuple[Alternative, ...]:
    """Return the best alternatives of several refusals, in the order that ``final_refusal`` describes.

    :param terms: the terms that were refused
    :param most: maximum number of alternatives
    """
    alternatives = sorted(
        (near for each in refusals for near in each.alternatives),
        key=lambda near: (_missing(near, terms), near.start, near.price or 0.0),
    )
    return tuple(alternatives[:most])


def _missing(near: Alternative, terms: LeaseRequest) -> int:
    return max(0, terms.node_count * terms.duration - near.nodes * (near.end - near.start))
