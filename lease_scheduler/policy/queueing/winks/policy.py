"""Shares of a site over time: the policy ``winks`` (Grit 2007, chapter 5; shirako F88-F112)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import QUEUED_STATES
from lease_scheduler.plan.fitting.count_ranges import has_ranges
from lease_scheduler.plan.interfaces import Claim, QueueRound, Turn
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.duration.counted import CountedDurations
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.queueing.report import FlowReport
from lease_scheduler.policy.queueing.winks.charging import ends_early, is_shortened, settle, take_back, with_terms
from lease_scheduler.policy.queueing.winks.claims import (
    Balance,
    Held,
    PreemptionOptions,
    ShareClaims,
    held_at,
    split_by_surplus,
)
from lease_scheduler.policy.queueing.winks.costs import SiteSize
from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.kinds import Kinds
from lease_scheduler.policy.queueing.winks.naming import FlowNames
from lease_scheduler.policy.queueing.winks.options import winks_options
from lease_scheduler.policy.queueing.winks.queued_requests import queued_request
from lease_scheduler.policy.queueing.winks.report import reports
from lease_scheduler.policy.queueing.winks.round import FlowRound, waiting_again
from lease_scheduler.policy.queueing.winks.shares import (
    Accounting,
    Flow,
    Shares,
    TrialShares,
    WinksOptions,
)
from lease_scheduler.policy.queueing.winks.state import Charge, Ledger

_ENDS = (Outcome.DONE, Outcome.CANCELLED, Outcome.REFUSED, Outcome.DECLINED, Outcome.FAILED)

#: Seconds after which an idle flow is forgotten: as long as projects see which share they had.
_IDLE = 86_400

_HOUR = 3_600


class Winks(QueueingPolicy):
    """Gives each flow its share of the site over time: weighted, wide-window calendar scheduling.

    A flow is a project, by default. Flows are served in the order of their clocks; a lease advances the clock of its
    flow by its cost, the part of the site that it takes times its duration, divided by the weight of the flow. Queued
    leases wait for their turn. Leases of other kinds have a place at once, and their flow pays for them. A flow gets
    back what its leases do not use, and pays for what they use beyond their charges.

    With ``winks_window``, leases of several nodes may be given a place up to that many seconds ahead, as far as the
    backfilling options let queued leases have one, and may not use more than the share of their flow of each window.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._names = FlowNames.of(options)
        self._durations = CountedDurations.of(options)
        self._shares = Shares(self._winks_options(options), 0)
        self._preemption = self._preemption_options(options)
        self.has_claims = self._preemption.after > 0
        self._claim_again: int | None = None
        self._ledger = Ledger()
        self._shares.holding = self._ledger.serving
        self._weights: Mapping[str, float] = {}
        self._site: Site | None = None
        self._size = SiteSize(0, {})
        self._kinds = Kinds(self._durations)
        self._round: FlowRound | None = None
        self._hour: int | None = None
        #: What ``Shares.share_per_weight`` has returned, for which window, and the names of the flows that share it.
        self._share: tuple[int, float, frozenset[str]] | None = None
        #: Gaps of queues whose requests are not known yet.
        self._gaps: dict[str, dict[str, int]] = {}

    def _winks_options(self, options: PolicyOptions) -> WinksOptions:
        return winks_options(options)

    def _preemption_options(self, options: PolicyOptions) -> PreemptionOptions:
        return PreemptionOptions.of(options)

    # -- the site and its flows --------------------------------------------------------------------------

    def follow(self, site: Site, weights: Mapping[str, float]) -> None:
        """See ``Queueing.follow``."""
        if site is not self._site:
            self._site, self._size = site, SiteSize.of(site)
            self._shares.capacity = self._size.capacity
            self._share = None
        if weights is not self._weights:
            self._weights, self._share = weights, None
            self._shares.configured = self._names.flows_of(weights)
            for flow in self._shares.flows.values():
                flow.set_weight(self._weight(flow.name))

    def take_over(self, leases: Sequence[Lease], now: int) -> int | None:
        """See ``Queueing.take_over``.

        Leases that hold hosts and were not charged got them under another policy: their flows do not pay for them.
        """
        self._ledger.now = now
        for flow in self._shares.flows.values():
            flow.windows.go_back_to(self._shares.window_of(now))
        live = {lease.lease_id for lease in leases}
        for lease_id in [each for each in self._ledger.charges if each not in live]:
            self._settle(lease_id, 0)
        by_flow: dict[str, list[QueuedRequest]] = {}
        for lease in leases:
            if lease.state in QUEUED_STATES and lease.lease_id not in self._ledger.charges:
                by_flow.setdefault(self._names.flow_of(lease.request), []).append(self._request(lease))
        for name, requests in by_flow.items():
            flow = self._flow(name)
            if name in self._gaps:
                flow.queue.restore(flow.queue.clock, self._gaps[name], requests)
            else:
                for request in sorted(requests, key=lambda each: each.order):
                    self._shares.arrive(flow, request)
            self._note(flow)
        self._gaps = {}
        return self._ledger.look_again

    def _flow(self, name: str) -> Flow:
        return self._shares.flow(name, self._weight(name))

    def _weight(self, name: str) -> float:
        return self._names.weight_of(name, self._weights)

    def _note(self, flow: Flow) -> None:
        """Note that a flow has changed."""
        self._ledger.note(flow)
        if self._share is None:
            return
        window, _, shared = self._share
        if (flow.name in shared) is not self._shares.takes_part(flow, window):
            self._share = None

    def _share_per_weight(self, now: int) -> float:
        """Return ``Shares.share_per_weight``, which is cached because it looks at every flow."""
        if not self._shares.limits:
            return 0.0
        window = self._shares.window_of(now)
        if self._share is None or self._share[0] != window:
            shared = frozenset(
                flow.name for flow in self._shares.flows.values() if self._shares.takes_part(flow, window)
            )
            self._share = window, self._shares.share_per_weight(now), shared
        return self._share[1]

    # -- the queue ---------------------------------------------------------------------------------------

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        self._round = this_round = FlowRound(self._shares, queue, self._ledger.charges, self._cost)
        waiting = waiting_again(queue, self._ledger.charges)
        later: list[Lease] = []
        if self.has_claims and waiting:
            queued = [flow.name for flow in self._shares.flows.values() if flow.queue.requests]
            waiting, later = split_by_surplus(waiting, self._balance(queue)[1], self._flow_of, self._width, queued)
        yield from this_round.look_aside(waiting)
        yield from this_round.turns()
        yield from this_round.left_over(later)
        yield from this_round.spare_turns()

    @contextmanager
    def with_queued(self, lease: Lease) -> Iterator[None]:
        """See ``Queueing.with_queued``."""
        known = self._shares, self._share, self._round, self._claim_again, self._ledger.look_again
        trial = self._shares = TrialShares(self._shares)
        self._share = None
        try:
            trial.arrive(trial.copied(self._flow(self._names.flow_of(lease.request))), self._request(lease))
            yield
        finally:
            self._shares, self._share, self._round, self._claim_again, self._ledger.look_again = known

    def claims(self, queue: QueueRound) -> Iterable[Claim]:
        """See ``Queueing.claims``."""
        this_round = self._round = self._round or FlowRound(self._shares, queue, self._ledger.charges, self._cost)
        held, balance = self._balance(queue)
        found = ShareClaims(this_round.shares, self._preemption, held, balance, self._tags())
        yield from found.claims(queue, this_round.share)
        self._claim_again = found.again

    def _balance(self, queue: QueueRound) -> tuple[list[Held], Balance]:
        """Return what leases hold when shares are compared, and how far each flow is from its share then."""
        held = held_at(queue.live.values(), queue.now + self._preemption.after, self._flow_of, self._width)
        # Leases that were preempted, or that start later, want their share too.
        names = {charge.flow for charge in self._ledger.charges.values()} | {each.flow for each in held}
        names |= {flow.name for flow in self._shares.flows.values() if flow.queue.requests}
        return held, Balance.of(self._shares.capacity, held, {name: self._weight(name) for name in names})

    def _tags(self) -> dict[str, int]:
        return {lease_id: charge.tag for lease_id, charge in self._ledger.charges.items()}

    def _flow_of(self, lease: Lease) -> str:
        return self._names.flow_of(lease.request)

    def _width(self, lease: Lease) -> int:
        return self._size.width(lease.request)

    def refusal(self, request: LeaseRequest) -> str | None:
        """See ``Queueing.refusal``: without debt, a lease that costs more than all of a window or a strict share."""
        seconds, nodes = self._seconds(request), request.node_count
        cost = self._cost(Lease(request, 0), seconds)
        window = self._shares.options.window
        most, whole = float(window * self._shares.capacity), "the whole site"
        if self._shares.limits and not self._shares.has_spare:
            name = self._names.flow_of(request)
            flow = self._shares.flows.get(name) or Flow(name, -1, self._weight(name))
            part = self._shares.share_of(flow, self._ledger.now) / most if most else 1.0
            most, whole = most * part, f"the share of its project, {part:.1%} of the site,"
        if not self._shares.is_too_costly(QueuedRequest(request.lease_id, cost, seconds, nodes, nodes > 1), most):
            return None
        return (
            f"duration: {nodes} nodes for {in_words(seconds, up=True)} would never start, because a lease of several "
            f"nodes may use no more than {whole} for {in_words(window)}; the longest duration of these nodes is "
            f"{in_words(int(most * seconds / cost))}, and fewer nodes can have more"
        )

    def look_again(self, now: int) -> int | None:
        """See ``Queueing.look_again``: the next window has shares again, or a lease may be suspended for a share."""
        refused, self._round = self._round is not None and self._round.refused, None
        window = (self._shares.window_of(now) + 1) * self._shares.options.window if refused else None
        again, self._claim_again = self._claim_again, None
        self._ledger.look_again = min((each for each in (window, again) if each is not None), default=None)
        return self._ledger.look_again

    def _request(self, lease: Lease) -> QueuedRequest:
        return queued_request(lease, self._seconds(lease.request), self._size, self._kinds)

    def _seconds(self, request: LeaseRequest) -> int:
        """Return for how long a lease is charged at first."""
        return self._durations.of_request(request)

    def _cost(self, lease: Lease, seconds: int) -> int:
        """Return the cost of a lease for this many seconds."""
        return self._size.cost(lease.request, seconds)

    # -- what becomes of leases --------------------------------------------------------------------------

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        self._ledger.now = now
        owing = self._shares.forget_before(now)
        if owing is not None:
            self._share = None
            for flow in owing:
                self._ledger.note(flow)
        self._forget_idle(now)
        if outcome is Outcome.QUEUED:
            self._queued(lease, before)
        elif outcome is Outcome.CHANGED:
            self._changed(lease)
        elif outcome is Outcome.PLACED:
            self._placed(lease, before, now)
        elif outcome is Outcome.STARTED:
            self._started(lease)
        elif outcome in _ENDS:
            self._ended(outcome, lease)

    def _forget_idle(self, now: int) -> None:
        """Forget, once an hour, the flows that have been idle for long."""
        hour = now // _HOUR
        if hour == self._hour:
            return
        self._hour = hour
        for name in self._shares.forget_idle(self._ledger.serving, hour * _HOUR - _IDLE):
            self._ledger.forget(name)

    def _queued(self, lease: Lease, before: Lease | None) -> None:
        charge = self._ledger.charges.get(lease.lease_id)
        if charge is not None and lease.started is not None:
            # It goes on before the flows are served, and is not charged again.
            return
        flow = self._flow(self._names.flow_of(lease.request))
        if charge is None:
            self._shares.arrive(flow, self._request(lease))
        else:
            # It lost its place before it started: it is queued with its old tags.
            self._ledger.take(lease.lease_id)
            take_back(flow, charge)
            flow.queue.put_back(replace(self._request(lease), cost=charge.cost))
            if has_ranges(lease.request) or (before is not None and before.request is not lease.request):
                self._changed(lease)
        self._note(flow)

    def _changed(self, lease: Lease) -> None:
        """Correct the cost of a queued lease after a change of its terms."""
        flow = self._shares.flows.get(self._names.flow_of(lease.request))
        position = None if flow is None else flow.queue.position(lease.lease_id)
        if flow is None or position is None:
            # It was charged before it was suspended, and the charge is settled when it ends.
            return
        request = self._request(lease)
        if request.priority == flow.queue.requests[position].priority:
            flow.queue.correct(position, request)
        else:
            flow.queue.withdraw(position)
            self._shares.arrive(flow, request)
        self._note(flow)

    def _placed(self, lease: Lease, before: Lease | None, now: int) -> None:
        request = lease.request
        if lease.lease_id in self._ledger.charges:
            # What a lease costs may follow from its price.
            if before is not None and (before.request is not request or before.grant is not lease.grant):
                self._terms_changed(lease, before)
            return
        flow = self._flow(self._names.flow_of(request))
        start, share = lease.holdings[0].start, self._share_per_weight(now)
        cost = self._cost(lease, max(1, self._seconds(request) - lease.accumulated))
        position = flow.queue.position(lease.lease_id) if request.kind is LeaseKind.BEST_EFFORT else None
        is_due = False
        if position is not None:
            flow.queue.correct(position, replace(flow.queue.requests[position], cost=cost))
            tag = self._shares.schedule(flow, position, start, now, share)
            is_due = start > now and self._shares.options.accounting is Accounting.DISPATCH
        elif before is None or not before.holdings:
            tag = self._shares.charge_ahead(flow, cost, start, share)
        else:
            # It got its hosts under another policy.
            return
        window = self._shares.window_of(start)
        seconds = max(1, self._seconds(request) - lease.accumulated)
        owes = self._shares.owes(flow, cost, share)
        self._ledger.put(lease.lease_id, Charge(flow.name, cost, seconds, tag, window, is_due, owes))
        self._note(flow)

    def _terms_changed(self, lease: Lease, old: Lease) -> None:
        charge = self._ledger.charges[lease.lease_id]
        seconds = max(1, charge.duration + self._seconds(lease.request) - self._seconds(old.request))
        cost = max(0, charge.cost + self._cost(lease, seconds) - self._cost(old, charge.duration))
        flow, share = self._flow(charge.flow), self._share_per_weight(self._ledger.now)
        shortened = is_shortened(lease, old)
        charge = with_terms(self._shares, flow, charge, cost, seconds, share, is_overestimated=shortened)
        self._ledger.put(lease.lease_id, charge)
        self._note(flow)

    def _started(self, lease: Lease) -> None:
        charge = self._ledger.charges.get(lease.lease_id)
        if charge is None or not charge.is_due:
            return
        flow = self._flow(charge.flow)
        tag = self._shares.dispatch(flow, charge.cost)
        self._ledger.put(lease.lease_id, replace(charge, tag=tag, is_due=False))
        self._note(flow)

    def _ended(self, outcome: Outcome, lease: Lease) -> None:
        if lease.lease_id in self._ledger.charges:
            self._settle(lease.lease_id, lease.accumulated, is_overestimated=ends_early(outcome, lease))
        else:
            flow = self._shares.flows.get(self._names.flow_of(lease.request))
            position = None if flow is None else flow.queue.position(lease.lease_id)
            if flow is not None and position is not None:
                flow.queue.withdraw(position)
                self._note(flow)
        if not self._ledger.charges and not any(flow.queue.requests for flow in self._shares.flows.values()):
            self._shares.rest()

    def _settle(self, lease_id: str, ran: int, *, is_overestimated: bool = False) -> None:
        """Settle the charge of a lease that is over and has run for ``ran`` seconds."""
        charge = self._ledger.take(lease_id)
        if charge is not None:
            flow = self._flow(charge.flow)
            settle(self._shares, flow, charge, ran, is_overestimated=is_overestimated)
            self._note(flow)

    # -- what is kept ------------------------------------------------------------------------------------

    def take_changes(self) -> dict[str, Learnt | None]:
        """See ``Policy.take_changes``."""
        return self._ledger.take_changes(self._shares)

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``; ``take_over`` follows."""
        self._share = None
        self._gaps = self._ledger.restore(learnt, self._shares, self._weight)
        self._shares.holding = self._ledger.serving

    def flows(self, now: int) -> list[FlowReport]:
        """See ``QueueingPolicy.flows``."""
        return reports(self._shares, self._ledger.charges.values(), now)
