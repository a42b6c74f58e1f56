"""Quotes: what would happen to requests, and alternatives to those that would be refused."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.admission import Admission
from lease_scheduler.engine.parts import Parts
from lease_scheduler.engine.prices import affordable, too_high, within_budget
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import QUEUED_STATES, LeaseState
from lease_scheduler.plan.changing.sleepers import closed
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.plan.explaining.explain import Refusal
from lease_scheduler.plan.explaining.quote import Quote, quote


class Quotes:
    """Answers as the next step would decide. Nothing changes.

    :param state: state that the parts of the engine share
    :param parts: the parts of the engine
    :param admission: decides requests
    """

    def __init__(self, state: EngineState, parts: Parts, admission: Admission) -> None:
        self._state = state
        self._parts = parts
        self._admission = admission

    def quote(self, request: LeaseRequest, least: tuple[int, ...] | None, grant: Grant, now: int) -> Quote:
        """See ``Engine.quote``."""
        rigid = self._parts.fluid.refusal(request)
        if rigid is not None:
            return Quote(refusal=Refusal(RefusalReason.FRACTIONAL, rigid))
        refusal = self._state.policies.admission.refusal(request, now, self._state.view(now))
        if refusal is not None:
            return Quote(refusal=Refusal(RefusalReason.POLICY, refusal))
        earliest = now + self._state.options.planning_lead
        planner, sequence = self._state.planner, self._parts.order.next
        if request.kind is LeaseKind.BEST_EFFORT:
            with self._state.only_awake(now):
                found = quote(planner, request, sequence, now, least=least, earliest=earliest, grant=grant)
                return self._queued(found, now)
        unwanted, _ = self._parts.power_decisions.for_request(request, now)
        with closed(planner.plan, unwanted, now):
            found = quote(planner, request, sequence, now, least=least, earliest=earliest, grant=grant)
        if len(unwanted) and not found.granted:
            found = quote(planner, request, sequence, now, least=least, earliest=earliest, grant=grant)
        found = self._parts.assurances.quoted(found, now)
        return self._priced(found)

    def _queued(self, found: Quote, now: int) -> Quote:
        """Return the quote of a best-effort lease with its promise and price.

        If it would get a place now, but its lifetime cannot be promised, it is quoted as queued. The price of a lease
        that waits is an estimate.
        """
        lease = found.lease
        if lease is None:
            return found
        refusal = self._admission.unassured(replace(lease, state=LeaseState.PENDING, holdings=()), now)
        if refusal is not None:
            return Quote(refusal=refusal)
        if lease.holdings:
            promised = self._parts.assurances.agree_in_queue(lease, now)
            place = 1 + sum(each.state in QUEUED_STATES for each in self._state.planner.plan.leases.values())
            found = replace(found, lease=promised)
            if promised is None:
                found = Quote(replace(lease, holdings=(), state=LeaseState.QUEUED), queue_position=place)
        return self._priced(replace(found, suspension_hours=0.0))

    def _priced(self, found: Quote) -> Quote:
        lease = found.lease
        if lease is None or not self._parts.prices.applies_to(lease):
            return found
        price = self._parts.prices.of(lease.request, found.suspension_hours).amount
        grant = replace(lease.grant, price=price)
        if affordable(lease.request, grant) or not lease.holdings:
            return replace(found, lease=replace(lease, grant=grant), price=price)
        return Quote(refusal=Refusal(RefusalReason.PRICE, too_high(lease.request, grant)), price=price)

    def alternatives(
        self, request: LeaseRequest, refusal: Refusal, flexibility: Flexibility, now: int
    ) -> tuple[Alternative, ...]:
        """See ``Engine.alternatives``."""
        start = now if request.start is None else max(now, request.start)
        found = refusal.alternatives
        if refusal.reason is RefusalReason.PRICE and request.max_price is not None:
            rate = self._parts.prices.of(request).rate
            found = within_budget(request, rate, request.max_price, start)
        return tuple(each for each in found if flexibility.allows(each))
