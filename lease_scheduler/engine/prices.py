"""What leases cost, and whether their consumers take them for that (haizea 4.17; Sotomayor 2010, section 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isclose

from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.advice import Alternative
from lease_scheduler.plan.overhead import suspension_hours
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.policy.pricing.base import PricingPolicy

#: A price that is told as text and comes back as the highest one is the same.
_PRECISION = 1e-9


@dataclass(frozen=True)
class Price:
    """A price and the rate that it comes to.

    :ivar amount: money
    :ivar rate: money per node and hour, surcharges included
    """

    amount: float
    rate: float


class PriceTooHighError(NotPlannableError):
    """There is a place for a lease, and its consumer does not want it at its price; the plan is as it was.

    :param request: the terms with the price
    """

    def __init__(self, request: LeaseRequest) -> None:
        super().__init__(too_high(request))
        self.request = request


def too_high(request: LeaseRequest) -> str:
    """That a lease costs more than its consumer would pay, for people."""
    return f"its price is {request.price:.12g}, and max_price is {request.max_price:.12g}"


def affordable(request: LeaseRequest) -> bool:
    """Whether a lease costs no more than its consumer would pay; who has said nothing of that pays everything."""
    price, most = request.price, request.max_price
    return price is None or most is None or price <= most or isclose(price, most, rel_tol=_PRECISION)


def at_its_rate(lease: Lease, terms: LeaseRequest, refund_share: float = 1.0) -> LeaseRequest:
    """New terms of a lease with what they cost: the rate that was agreed on stays.

    :param terms: their highest price is the old one if they name none
    :param refund_share: how much of the price of node-hours that are given up is given back
    """
    old = lease.request
    max_price = old.max_price if terms.max_price is None else terms.max_price
    if old.price is None:
        return terms if terms.max_price == max_price else replace(terms, max_price=max_price)
    if terms.node_hours == old.node_hours:
        # The very price that was told, not one that was divided and multiplied.
        return replace(terms, price=old.price, retained=old.retained, max_price=max_price)
    of_hours = old.price - old.retained
    price = of_hours * terms.node_hours / old.node_hours if old.node_hours else of_hours
    retained = old.retained + (1.0 - refund_share) * max(0.0, of_hours - price)
    return replace(terms, price=price + retained, retained=retained, max_price=max_price)


def within_budget(request: LeaseRequest, rate: float, budget: float, start: int) -> tuple[Alternative, ...]:
    """The most of some terms that money is enough for: fewer nodes, and a shorter duration.

    :param rate: money per node and hour
    :param start: when a lease by these terms begins
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
    """Asks the pricing policy and the consumers.

    Who does not say what he would pay at most is not asked, and his taking a lease teaches the policy nothing.

    :param state: what the parts of the engine share
    :param policy: says what a node-hour costs
    """

    def __init__(self, state: EngineState, policy: PricingPolicy) -> None:
        self._state = state
        self._policy = policy

    @property
    def are_asked(self) -> bool:
        """Whether leases have prices at all."""
        return self._policy.charges

    def applies_to(self, request: LeaseRequest) -> bool:
        """Whether a price is to be put on a lease: not on one that has it already, nor on what operators keep free."""
        return self._policy.charges and request.price is None and not request.moves_others and bool(request.node_hours)

    def of(self, request: LeaseRequest, suspension: float = 0.0) -> Price:
        """What a lease would cost now; nobody is told.

        :param suspension: node-hours in which others are suspended and resumed for it
        """
        hours = request.node_hours
        highest = None if request.max_price is None else request.max_price / hours
        rate = self._policy.rate(request.user, highest)
        surcharge = self._policy.surcharge * suspension * rate
        return Price(hours * rate + surcharge, rate + surcharge / hours)

    def agree(self, placed: Lease, *, others_make_room: bool = True, negotiating: bool = False) -> Lease:
        """A lease for which a place was found, with its price.

        :param negotiating: whether its consumer has not said his last word, so that the policy is told nothing
        :param others_make_room: whether what changed in the plan since the last time makes room for the lease
        :raises PriceTooHighError: its consumer does not want it; the policy has been told
        """
        request = placed.request
        if not self.applies_to(request):
            return placed
        suspension = 0.0
        if self._policy.surcharge and others_make_room:
            planner = self._state.planner
            suspension = suspension_hours(planner.context, planner.plan.changes())
        price = self.of(request, suspension)
        self._policy.quoted()
        priced = replace(request, price=price.amount)
        is_answer = request.max_price is not None and not (placed.is_offered and affordable(priced))
        if is_answer and not negotiating:
            self._policy.answered(request.user, price.rate, accepted=affordable(priced))
        if not affordable(priced):
            raise PriceTooHighError(priced)
        return replace(placed, request=priced)

    def agree_in_queue(self, placed: Lease, now: int) -> Lease | None:
        """The same for a lease that gets its place out of the queue; if it is not wanted it is over, and none given."""
        try:
            return self.agree(placed, others_make_room=False)
        except PriceTooHighError as error:
            queued = self._state.lease(placed.lease_id)
            assert queued is not None
            self.refused(queued, error, now)
            return None

    def refused(self, lease: Lease, error: PriceTooHighError, now: int) -> None:
        """End a lease that its consumer does not want at its price."""
        self._state.finish(replace(lease, request=error.request), LeaseState.REJECTED_BY_USER, now, str(error))

    def answered(self, lease: Lease, *, accepted: bool) -> None:
        """The consumer of a lease that was held for him has accepted it or turned it down."""
        request = lease.request
        if request.price is not None and request.node_hours:
            self._policy.answered(request.user, request.price / request.node_hours, accepted=accepted)
