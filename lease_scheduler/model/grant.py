"""Grants: what the service has answered to a request for a lease."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.model.attributes import Amount, Choice, Span, Whole, attribute
from lease_scheduler.model.kinds import Assured


@dataclass(frozen=True, slots=True)
class Grant:
    """The answers of the service to a request. ``LeaseRequest`` has what the project asked for.

    How many nodes a lease got, and of which size, is in ``Lease.request.nodes``.

    :ivar price: price that the project pays, in money, fixed once it is quoted; None if the lease has no price
    :ivar retained: part of the price that was not paid back when the lease was reduced; it pays for no node-hours. 0 if
        there is none
    :ivar assured: basis of the promise that the lease got with its place, or that it was broken; None if there is none
    :ivar assured_from: number of observations behind the promise, 0 for a planned one; None without a promise
    :ivar planned_lifetime: seconds from its start to a preemption that was already planned when the promise was made;
        None if none was planned
    :ivar expected_wait: seconds that a queued lease was told to wait at most, a forecast; None if it was told nothing
    :ivar expected_wait_from: number of observed waits behind ``expected_wait``; None without a forecast
    """

    price: float | None = field(
        default=None, metadata=attribute(Amount(), shown="1.12", is_computed=True, is_notified=True)
    )
    retained: float = 0.0
    assured: Assured | None = field(
        default=None, metadata=attribute(Choice(Assured), shown="1.30", is_computed=True, is_notified=True)
    )
    assured_from: int | None = field(default=None, metadata=attribute(Whole(), shown="1.30", is_computed=True))
    planned_lifetime: int | None = field(default=None, metadata=attribute(Span(), shown="1.30", is_computed=True))
    expected_wait: int | None = field(default=None, metadata=attribute(Span(), shown="1.33", is_computed=True))
    expected_wait_from: int | None = field(default=None, metadata=attribute(Whole(), shown="1.33", is_computed=True))


#: The grant of a request to which nothing has been answered.
UNANSWERED = Grant()
