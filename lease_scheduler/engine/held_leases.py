"""Answers to held leases: to offers, and to leases that await approval (haizea F8)."""

from __future__ import annotations

from collections.abc import Callable

from lease_scheduler.engine.follow_up import FollowUp
from lease_scheduler.engine.offers import Offers
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.stepping import EngineSteps
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal, explain, too_large
from lease_scheduler.plan.fitting.largest_fit import check_least, with_counts


class HeldLeases:
    """Answers of projects to offers, and of approvers to leases that await approval.

    :param state: state that the parts of the engine share
    :param offers: the life of held leases
    :param steps: plans waiting leases
    :param follow_up: lets other leases use what became free
    :param now: returns the present instant
    :param cancel: ends a lease, with a reason for people
    """

    def __init__(
        self,
        state: EngineState,
        offers: Offers,
        steps: EngineSteps,
        follow_up: FollowUp,
        now: Callable[[], int],
        cancel: Callable[[str, str], None],
    ) -> None:
        self._state = state
        self._offers = offers
        self._steps = steps
        self._follow_up = follow_up
        self._now = now
        self._cancel = cancel

    def counter(self, lease_id: str, terms: LeaseRequest, least: tuple[int, ...] | None = None) -> Lease:
        """Give an offer other terms, at the request of its project (haizea F8).

        :param least: as in ``Engine.submit``
        :return: its new value: still an offer, which ends no later than before
        :raises InvalidValueError: there is no such live lease, it is not an offer, or the terms are not valid for it
        :raises NoPlaceError: there is no place for the terms, or they cost too much; the offer is unchanged
        """
        now = self._now()
        lease = self._quoted(lease_id)
        if terms.lease_id != lease_id or terms.kind is not lease.kind:
            raise InvalidValueError("kind", f"cannot be changed; the lease is a {lease.kind.value} lease")
        if least is not None:
            check_least(terms, least)
        smallest = terms if least is None else with_counts(terms, least)
        if too_large(self._state.planner.context, smallest) is not None:
            raise NoPlaceError(explain(self._state.planner, smallest, now))
        refusal = self._state.policies.admission.refusal(terms, now, self._state.view(now))
        if refusal is not None:
            raise NoPlaceError(Refusal(RefusalReason.POLICY, refusal))
        placed = self._offers.exchange(lease, terms, now, least)
        return self._follow_up.of_change(Change(lease, placed, ()), now).after

    def accept(self, lease_id: str) -> Lease:
        """Accept an offer on behalf of its project.

        :return: its new value
        :raises InvalidValueError: there is no such live lease, or it is not an offer
        """
        now = self._now()
        accepted = self._offers.accept(self._quoted(lease_id), now)
        self._state.publish(now)
        replaced = self._state.lease(accepted.negotiation)
        if replaced is not None and replaced.started is None and not replaced.is_offered:
            self._cancel(replaced.lease_id, f"lease {lease_id} was accepted in its place")
        self._steps.serve_queue(now)
        return self._state.live(lease_id)

    def reject(self, lease_id: str, reason: str = "its quote was rejected") -> None:
        """Reject an offer on behalf of its project.

        :param reason: why, for people
        :raises InvalidValueError: there is no such live lease, or it is not an offer
        """
        now = self._now()
        self._offers.turn_down(self._offered(lease_id), now, reason)
        self._state.publish(now)
        self._steps.serve_queue(now)

    def approve(self, lease_id: str, reason: str = "approved") -> Lease:
        """Approve a lease that awaits approval.

        :param reason: why, for people
        :return: its new value
        :raises InvalidValueError: there is no such live lease, or it does not await approval
        """
        now = self._now()
        self._offers.approve(self._awaiting(lease_id), now, reason)
        self._state.publish(now)
        self._steps.serve_queue(now)
        return self._state.live(lease_id)

    def decline(self, lease_id: str, reason: str = "declined") -> None:
        """End a lease that awaits approval, because it is not approved.

        :param reason: why, for people
        :raises InvalidValueError: as in ``approve``
        """
        now = self._now()
        self._offers.decline(self._awaiting(lease_id), now, reason)
        self._state.publish(now)
        self._steps.serve_queue(now)

    def _awaiting(self, lease_id: str) -> Lease:
        lease = self._state.live(lease_id)
        if not lease.awaits_approval:
            raise InvalidValueError("lease_id", f"lease {lease_id} does not await approval")
        return lease

    def _quoted(self, lease_id: str) -> Lease:
        """Return an offer that its project may accept, or for which it may ask for other terms."""
        lease = self._offered(lease_id)
        if lease.awaits_approval:
            raise InvalidValueError("lease_id", f"lease {lease_id} awaits approval")
        return lease

    def _offered(self, lease_id: str) -> Lease:
        lease = self._state.live(lease_id)
        if not lease.is_offered:
            raise InvalidValueError("lease_id", f"lease {lease_id} is not an open quote")
        return lease
