"""Breaches of terms, and what the provider owes for them (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lease_scheduler.engine.interfaces import Recorder
from lease_scheduler.model.breach import Breach, BreachKind
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.penalty.base import PenaltyPolicy

#: Part of the reason of a lease that waits although it cannot meet its deadline. It shows that the breach is recorded.
DEADLINE_MISSED = "it cannot be done by its deadline any more"


class Breaches:
    """Detection of breaches. Methods record them, and return new values of leases, which they do not put into the plan.

    Leases that keep hosts free for operators, and leases without paid nodes, have no terms that could be broken.

    :param recorder: records breaches
    :param policy: returns the present policy, which computes penalties
    :param tolerance: seconds for which a start may be late, or nodes may be missing, without a breach
    """

    def __init__(self, recorder: Recorder, policy: Callable[[], PenaltyPolicy], tolerance: int = 0) -> None:
        self._recorder = recorder
        self._policy = policy
        self._tolerance = tolerance

    def begun(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that starts to run, for the first time or again."""
        if lease.started is not None:
            return self.whole(lease, now)
        if not lease.kind.promises_interval:
            return lease
        promised = _promised_start(lease)
        late = now - promised
        if late <= self._tolerance:
            return lease
        missed = min(late, lease.request.duration)
        return self._breached(lease, BreachKind.LATE_START, now, late, missed * lease.request.charged_nodes)

    def without(self, lease: Lease, nodes: int, now: int) -> Lease:
        """Return the new value of a running lease that lacks this number of its nodes from now on."""
        if nodes == lease.missing_nodes:
            return lease
        whole = self.whole(lease, now)
        return replace(whole, missing_since=now, missing_nodes=nodes) if nodes else whole

    def whole(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that has all its nodes again, or has ended."""
        if lease.missing_since is None:
            return lease
        seconds, nodes = now - lease.missing_since, lease.missing_nodes
        whole = replace(lease, missing_since=None, missing_nodes=0)
        if seconds <= self._tolerance:
            return whole
        return self._breached(whole, BreachKind.FEWER_NODES, now, seconds, seconds * nodes)

    def interrupted(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that was preempted and lost its work; a breach if it is not preemptible."""
        if lease.request.preemptible or lease.kind is LeaseKind.DEADLINE:
            # A deadline lease was promised no more than to be done by its deadline.
            return lease
        lost = lease.accumulated
        return self._breached(lease, BreachKind.PREEMPTED, now, lost, lost * lease.request.charged_nodes)

    def cut_short(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease; a breach if it stopped running before its assured lifetime was over.

        It is no breach if its project ended the lease. The breach of a lease that failed is recorded by ``failed``, so
        only its promise is marked as broken here.
        """
        until = lease.assured_until
        if until is None or until <= now or lease.started is None or lease.active_since is not None:
            return lease
        if lease.is_final and lease.state is not LeaseState.FAILED:
            return lease
        broken = replace(lease, grant=replace(lease.grant, assured=Assured.BROKEN))
        if lease.is_final:
            return broken
        seconds = until - now
        return self._breached(broken, BreachKind.PREEMPTED_EARLY, now, seconds, seconds * lease.request.charged_nodes)

    def deadline_missed(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that waits with its saved work and cannot be done by its deadline.

        The caller adds ``DEADLINE_MISSED`` to the reason of the lease.

        :return: the same value if the breach has already been recorded
        """
        if DEADLINE_MISSED in lease.reason:
            return lease
        seconds = lease.remaining
        return self._breached(lease, BreachKind.MISSED_DEADLINE, now, seconds, seconds * lease.request.charged_nodes)

    def failed(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that has failed."""
        lease = self.whole(lease, now)
        request = lease.request
        if lease.awaits_approval:
            # It was promised nothing yet.
            return lease
        if lease.offered_until is not None:
            # The offer was not accepted, so nothing had to be delivered.
            return self._breached(lease, BreachKind.OFFER_WITHDRAWN, now, max(0, lease.offered_until - now), 0)
        kind, seconds = BreachKind.ENDED_EARLY, lease.remaining
        if lease.kind is LeaseKind.DEADLINE:
            if DEADLINE_MISSED in lease.reason:
                return lease
            kind = BreachKind.MISSED_DEADLINE
        elif lease.kind.promises_interval:
            start = _promised_start(lease)
            begun = start if lease.started is None else max(start, now)
            seconds = start + request.duration - begun
        if request.duration >= UNLIMITED:
            seconds = 0
        return self._breached(lease, kind, now, max(0, seconds), max(0, seconds) * request.charged_nodes)

    def withdrawn(self, lease: Lease, now: int) -> Lease:
        """Return the new value of a lease that the provider ends without a wish of its project (shirako F41).

        This is a breach, except for a best-effort lease that has not started, which was promised nothing, and a lease
        whose time is over, whose nodes are being stopped.
        """
        if lease.kind.promises_interval:
            is_owed = now < _promised_start(lease) + lease.request.duration
        else:
            is_owed = lease.remaining > 0 and (lease.kind is LeaseKind.DEADLINE or lease.started is not None)
        return self.failed(lease, now) if is_owed else lease

    def _breached(self, lease: Lease, kind: BreachKind, now: int, seconds: int, node_seconds: int) -> Lease:
        if lease.request.moves_others or not lease.request.charged_nodes:
            return lease
        breach = Breach(lease.lease_id, kind, now, seconds, node_seconds)
        owed, price = 0.0, lease.grant.price
        if price is not None:
            left = max(0.0, price - lease.penalties)
            owed = min(left, max(0.0, self._policy().penalty(breach, lease)))
        self._recorder.breached(lease, replace(breach, penalty=owed))
        return replace(lease, penalties=lease.penalties + owed)


def _promised_start(lease: Lease) -> int:
    return lease.request.submitted if lease.request.start is None else lease.request.start
