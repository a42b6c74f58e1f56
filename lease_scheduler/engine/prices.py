"""What leases cost, and whether their consumers take them for that (haizea 4.17; Sotomayor 2010, section 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isclose

from lease_scheduler.engine.interfaces import Pricing
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.overhead import suspension_hours
from lease_scheduler.plan.plan import NotPlannableError

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


def at_its_rate(lease: Lease, terms: LeaseRequest) -> LeaseRequest:
    """New terms of a lease with what they cost: the rate that was agreed on stays."""
    old = lease.request
    if old.price is None:
        return terms if terms.max_price == old.max_price else replace(terms, max_price=old.max_price)
    price = old.price * terms.node_hours / old.node_hours if old.node_hours else old.price
    return replace(terms, price=price, max_price=old.max_price)


class Prices:
    """Asks the pricing policy and the consumers.

    Who does not say what he would pay at most is not asked, and his taking a lease teaches the policy nothing.

    :param state: what the parts of the engine share
    :param policy: says what a node-hour costs
    """

    def __init__(self, state: EngineState, policy: Pricing) -> None:
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

    def agree(self, placed: Lease, *, others_make_room: bool = True) -> Lease:
        """A lease for which a place was found, with its price.

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
        if request.max_price is not None and not (placed.is_offered and affordable(priced)):
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


class NoPrices:
    """The pricing policy of those who have none."""

    charges = False
    surcharge = 0.0

    def rate(self, user: str | None, highest: float | None) -> float:
        """Nothing costs anything."""
        return 0.0

    def quoted(self) -> None:
        """Nothing is ever quoted."""

    def answered(self, user: str | None, rate: float, *, accepted: bool) -> None:
        """Nobody is ever asked."""
