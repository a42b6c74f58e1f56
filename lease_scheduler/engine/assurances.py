"""Lifetimes that are promised to preemptible leases with their place (Pucher 2016, section 4.3)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.explaining.quote import Quote
from lease_scheduler.policy.assurance.base import AssurancePolicy, Shortfall, Wanted


def check_promise(lease: Lease, terms: LeaseRequest) -> None:
    """Check that new terms of a lease leave the promise of its lifetime valid.

    :raises InvalidValueError: the lease would grow, and the promise is only for its present size
    """
    old = lease.request
    if lease.assured_until is None or terms.nodes == old.nodes:
        return
    classes = {name for nodes in (*old.nodes, *terms.nodes) for name in nodes.needs}
    if terms.node_count > old.node_count or any(terms.total(name) > old.total(name) for name in classes):
        raise InvalidValueError("nodes", "cannot grow, because the lease was promised a lifetime for its size")


class Assurances:
    """Promises of lifetimes, which the assurance policy makes.

    A lease gets a promise once, for the time from its first start.

    :param state: state that the parts of the engine share
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state

    @property
    def _policy(self) -> AssurancePolicy:
        return self._state.policies.assurance

    @property
    def are_made(self) -> bool:
        """Whether the policy promises lifetimes at all."""
        return self._policy.promises

    def applies_to(self, lease: Lease) -> bool:
        """Return whether a lease needs a promise with its place."""
        return lease.request.min_lifetime is not None and lease.started is None

    def may_wait(self, lease: Lease) -> bool:
        """Return whether a lease waits in the queue until its lifetime can be promised, instead of being refused."""
        return lease.request.await_assurance and self.are_made

    def agree(self, placed: Lease, now: int) -> Lease:
        """Return a lease that was just placed, with its promise; unchanged if it needs none.

        :raises NoPlaceError: its lifetime cannot be promised
        """
        if not self.applies_to(placed):
            return placed
        first = placed.holdings[0]
        planned = None if first.closing is Closing.SHUTDOWN else first.run_end - first.run_start
        self._policy.follow(self._state.planner.plan.site)
        made = self._policy.promise(Wanted(placed.request, max(0, first.run_start - now), planned), now)
        if isinstance(made, Shortfall):
            raise NoPlaceError(Refusal(RefusalReason.ASSURANCE, f"min_lifetime: {made.reason}"))
        promised = replace(placed.grant, assured=made.basis, assured_from=made.observations, planned_lifetime=planned)
        return replace(placed, grant=promised)

    def agree_in_queue(self, placed: Lease, now: int) -> Lease | None:
        """Return a lease that gets a place out of the queue with its promise; None if it stays in the queue."""
        try:
            return self.agree(placed, now)
        except NoPlaceError:
            return None

    def quoted(self, found: Quote, now: int) -> Quote:
        """Return a quote with the promise that would be made.

        If no lifetime can be promised, the quote is a refusal, or, if the lease may wait, a lease without a place.

        :param found: quote of the planner
        """
        lease = found.lease
        if lease is None or not self.applies_to(lease):
            return found
        if not lease.holdings:
            reason = "min_lifetime: there is no place for the lease at present, so nothing can be promised"
            return found if self.may_wait(lease) else Quote(refusal=Refusal(RefusalReason.ASSURANCE, reason))
        try:
            return replace(found, lease=self.agree(lease, now))
        except NoPlaceError as error:
            if self.may_wait(lease):
                return replace(found, lease=replace(lease, holdings=()))
            return Quote(refusal=error.refusal)
