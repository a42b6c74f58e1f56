"""Prices of leases, and their acceptance by projects (Sotomayor 2010, chapter 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isclose

from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.overhead import suspension_hours
from lease_scheduler.policy.pricing.base import PricingPolicy

#: Relative tolerance: a price that a project read as text and sent back as its ``max_price`` must not be too high.
_PRECISION = 1e-9


@dataclass(frozen=True)
class Price:
    """A price, as an amount and as a rate.

    :ivar amount: money
    :ivar rate: money per node and hour, factors and surcharges included
    """

    amount: float
    rate: float


class PriceTooHighError(NotPlannableError):
    """There is a place for a lease, but its price is above ``max_price``; the plan is unchanged.

    :param lease: the lease as it was placed, with the price
    """

    def __init__(self, lease: Lease) -> None:
        super().__init__(too_high(lease.request, lease.grant))
        self.lease = lease


def too_high(request: LeaseRequest, grant: Grant) -> str:
    """Return the message that a lease costs more than its project is willing to pay."""
    return f"its price is {grant.price:.12g}, and max_price is {request.max_price:.12g}"


def affordable(request: LeaseRequest, grant: Grant) -> bool:
    """Return whether a lease costs at most ``max_price``; always if it has no price, or its request no limit."""
    price, most = grant.price, request.max_price
    return price is None or most is None or price <= most or isclose(price, most, rel_tol=_PRECISION)


def with_max_price(lease: Lease, terms: LeaseRequest) -> LeaseRequest:
    """Return new terms of a lease, to which the old ``max_price`` applies if they have none."""
    most = lease.request.max_price
    return terms if terms.max_price is not None or most is None else replace(terms, max_price=most)


def at_its_rate(lease: Lease, terms: LeaseRequest, refund_share: float = 1.0, dearer: float = 1.0) -> Grant:
    """Return the grant of a lease with the price of new terms, at the rate that was agreed on.

    :param refund_share: share of the price of released node-hours that is paid back
    :param dearer: factor of the rate for the new terms, divided by that for the old ones
    """
    had, hours = lease.grant, lease.request.node_hours
    if had.price is None or (terms.node_hours == hours and dearer == 1.0):
        # Keep the quoted price exactly: a division and a multiplication would change it by rounding.
        return had
    of_hours = had.price - had.retained
    price = dearer * (of_hours * terms.node_hours / hours if hours else of_hours)
    retained = had.retained + (1.0 - refund_share) * max(0.0, of_hours - price)
    return replace(had, price=price + retained, retained=retained)


def granted_anew(state: EngineState, lease: Lease, terms: LeaseRequest) -> Grant:
    """Return the grant of a lease with the price of new terms, which is higher if they are less flexible.

    :param state: has the pricing policy, and the share of a price that is paid back
    """
    pricing = state.policies.pricing
    dearer = pricing.factor(terms) / pricing.factor(lease.request)
    return at_its_rate(lease, terms, state.options.refund_share, dearer)


def within_budget(request: LeaseRequest, rate: float, budget: float, start: int) -> tuple[Alternative, ...]:
    """Return the largest alternatives within a budget: fewer nodes, and a shorter duration.

    :param rate: money per node and hour
    :param budget: money
    :param start: instant of the start
    """
    nodes = request.charged_nodes
    if rate <= 0 or budget <= 0 or not nodes:
        return ()
    affordable_hours = budget * (1 + _PRECISION) / rate
    found = []
    fewer = int(affordable_hours / (request.duration / 3_600))
    if len(request.nodes) == 1 and 0 < fewer < nodes:
        found.append(Alternative("nodes", start, fewer, request.duration))
    shorter = int(affordable_hours / nodes * 3_600)
    if 0 < shorter < request.duration:
        found.append(Alternative("duration", start, request.node_count, shorter))
    return tuple(found)


class Prices:
    """Prices by the pricing policy, which is told which of them projects accept.

    A project that gives no ``max_price`` accepts every price, so the policy learns nothing from it.

    :param state: state that the parts of the engine share
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state

    @property
    def _policy(self) -> PricingPolicy:
        return self._state.policies.pricing

    @property
    def are_asked(self) -> bool:
        """Whether leases have prices."""
        return self._policy.charges

    def applies_to(self, lease: Lease) -> bool:
        """Return whether a lease needs a price.

        It does not if it has one already, keeps hosts free for operators, or has no paid nodes.
        """
        if not self._policy.charges or lease.grant.price is not None:
            return False
        return not lease.request.moves_others and bool(lease.request.node_hours)

    def of(self, request: LeaseRequest, suspension: float = 0.0) -> Price:
        """Return what a lease would cost now. The policy is told nothing.

        :param suspension: node-hours for which other leases are suspended and resumed
        """
        hours = request.node_hours
        factor = self._policy.factor(request)
        highest = None if request.max_price is None else request.max_price / hours / factor
        rate = self._policy.rate(request.user, highest) * factor
        surcharge = self._policy.surcharge * suspension * rate
        return Price(hours * rate + surcharge, rate + surcharge / hours)

    def agree(self, placed: Lease, *, others_make_room: bool = True, negotiating: bool = False) -> Lease:
        """Return a lease that was just placed, with its price; unchanged if it needs none.

        :param others_make_room: whether changes of the plan since the last ``take_changes`` preempt leases for this one
        :param negotiating: whether the project may still make a counter-offer, so that the policy is told nothing
        :raises PriceTooHighError: the price is above ``max_price``; the policy has been told
        """
        request = placed.request
        if not self.applies_to(placed):
            return placed
        suspension = 0.0
        if self._policy.surcharge and others_make_room:
            planner = self._state.planner
            suspension = suspension_hours(planner.context, planner.plan.changes())
        price = self.of(request, suspension)
        self._policy.quoted()
        priced = replace(placed, grant=replace(placed.grant, price=price.amount))
        is_affordable = affordable(request, priced.grant)
        is_answer = request.max_price is not None and not (placed.is_offered and is_affordable)
        if is_answer and not negotiating:
            self._policy.answered(request.user, price.rate / self._policy.factor(request), accepted=is_affordable)
        if not is_affordable:
            raise PriceTooHighError(priced)
        return priced

    def agree_in_queue(self, placed: Lease, now: int) -> Lease | None:
        """Return a lease that gets a place out of the queue, with its price.

        If the price is too high, end the lease and return None.
        """
        try:
            return self.agree(placed, others_make_room=False)
        except PriceTooHighError as error:
            queued = self._state.lease(placed.lease_id)
            assert queued is not None
            self.refused(queued, error, now)
            return None

    def refused(self, lease: Lease, error: PriceTooHighError, now: int) -> None:
        """End a lease whose price is too high for its project."""
        priced = replace(lease, request=error.lease.request, grant=error.lease.grant)
        self._state.finish(priced, LeaseState.REJECTED_BY_USER, now, str(error))

    def answered(self, lease: Lease, *, accepted: bool) -> None:
        """Tell the policy whether a project accepted or declined an offer."""
        request, price = lease.request, lease.grant.price
        if price is not None and request.node_hours:
            rate = price / request.node_hours / self._policy.factor(request)
            self._policy.answered(request.user, rate, accepted=accepted)
