"""Terms that were not kept, and what the provider owes for them (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import Penalty, Recorder
from lease_scheduler.model.breach import Breach, BreachKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseKind

#: Part of the reason of a lease that waits although its deadline cannot be met: that was told, and counted.
DEADLINE_MISSED = "it cannot be done by its deadline any more"


class Breaches:
    """Has every breach recorded. Values of leases are given back, none is put into the plan.

    What operators keep free and what has no VMs has no terms that could be broken.

    :param recorder: is told
    :param policy: says what a breach costs
    :param tolerance: seconds by which the beginning of a lease may be late, or nodes may be missing
    """

    def __init__(self, recorder: Recorder, policy: Penalty, tolerance: int = 0) -> None:
        self._recorder = recorder
        self._policy = policy
        self._tolerance = tolerance

    def begun(self, lease: Lease, now: int) -> Lease:
        """A lease that begins to run, perhaps for another time."""
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
        """A lease that from now on does without so many of its nodes."""
        if nodes == lease.missing_nodes:
            return lease
        whole = self.whole(lease, now)
        return replace(whole, missing_since=now, missing_nodes=nodes) if nodes else whole

    def whole(self, lease: Lease, now: int) -> Lease:
        """A lease that has all its nodes again, or is over."""
        if lease.missing_since is None:
            return lease
        seconds, nodes = now - lease.missing_since, lease.missing_nodes
        whole = replace(lease, missing_since=None, missing_nodes=0)
        if seconds <= self._tolerance:
            return whole
        return self._breached(whole, BreachKind.FEWER_NODES, now, seconds, seconds * nodes)

    def interrupted(self, lease: Lease, now: int) -> Lease:
        """A lease that has to begin anew to make room for others. It is none of those that may be interrupted."""
        if lease.request.preemptible or lease.kind is LeaseKind.DEADLINE:
            # A deadline lease was promised no more than that it is done in time.
            return lease
        lost = lease.accumulated
        return self._breached(lease, BreachKind.PREEMPTED, now, lost, lost * lease.request.charged_nodes)

    def deadline_missed(self, lease: Lease, now: int) -> Lease:
        """A lease whose work cannot be done by its deadline, and that waits with it; its reason tells that from now on.

        :return: the lease as it was if that was known
        """
        if DEADLINE_MISSED in lease.reason:
            return lease
        seconds = lease.remaining
        return self._breached(lease, BreachKind.MISSED_DEADLINE, now, seconds, seconds * lease.request.charged_nodes)

    def failed(self, lease: Lease, now: int) -> Lease:
        """A lease that its provider ends for good."""
        lease = self.whole(lease, now)
        request = lease.request
        if lease.offered_until is not None:
            # Nothing was accepted, so nothing was to be delivered.
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

    def _breached(self, lease: Lease, kind: BreachKind, now: int, seconds: int, node_seconds: int) -> Lease:
        request = lease.request
        if request.moves_others or not request.charged_nodes:
            return lease
        breach = Breach(lease.lease_id, kind, now, seconds, node_seconds)
        owed = 0.0
        if request.price is not None:
            left = max(0.0, request.price - lease.penalties)
            owed = min(left, max(0.0, self._policy.penalty(breach, request)))
        self._recorder.breached(lease, replace(breach, penalty=owed))
        return replace(lease, penalties=lease.penalties + owed)


def _promised_start(lease: Lease) -> int:
    return lease.request.submitted if lease.request.start is None else lease.request.start
