"""Changes of live leases by projects and operators: to other terms, to other hosts, or an end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NoReturn

from lease_scheduler.engine.assurances import check_promise
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.late_hosts import late_hosts_held
from lease_scheduler.engine.prices import affordable, granted_anew, too_high, with_max_price, within_budget
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.changing.changing import Change, end_of_work, hosts_of, plan_anew, reshape, staying
from lease_scheduler.plan.changing.outages import closed
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal, explain, too_large
from lease_scheduler.plan.explaining.quote import more_nodes_beside, refusal_of
from lease_scheduler.plan.explaining.trials import loses
from lease_scheduler.plan.fitting.count_ranges import at_most, with_ranges
from lease_scheduler.plan.fitting.largest_fit import check_least, most_that_fits, with_counts
from lease_scheduler.plan.placing.elastic import with_sizes_of
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import back_to_queue

_NOWHERE: frozenset[int] = frozenset()

#: The state of the lease is saved, or is being saved or loaded.
_HALF_WAY_STATES = SUSPENDED_STATES | {LeaseState.SUSPENDING, LeaseState.RESUMING, LeaseState.RESUMED_READY}

#: States in which a lease waits or runs; all others are transitions between two of these.
_STEADY_STATES = frozenset(
    {
        LeaseState.QUEUED,
        LeaseState.READY,
        LeaseState.ACTIVE,
        # In this state, it could not be resumed, and waits for another attempt.
        LeaseState.SUSPENDED_PENDING,
        LeaseState.SUSPENDED_QUEUED,
        LeaseState.SUSPENDED_SCHEDULED,
    }
)


class LeaseChanges:
    """Changes of live leases. The caller publishes them, and lets other leases use the capacity that became free.

    :param state: state that the parts of the engine share
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state

    # -- other terms -------------------------------------------------------------------------------------

    def change(
        self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None, give_up: Iterable[int]
    ) -> Change:
        """Give a live lease new terms, at the same price per node-hour.

        :param least: as in ``Engine.submit``
        :param give_up: indices of the nodes to remove first if there are fewer
        :raises InvalidValueError: one of the terms cannot be changed
        :raises NoPlaceError: there is no place for the new terms; nothing has changed
        """
        give_up = tuple(give_up)
        under_way = self._is_under_way(lease)
        terms, least = self._with_ranges(lease, terms, least, under_way=under_way)
        terms = with_max_price(lease, _with_lasting_sizes(lease, terms, under_way=under_way))
        priced = self._checked(lease, terms, now, least, under_way=under_way)
        over = end_of_work(lease, terms) if under_way else None
        if (over is not None and over <= now) or terms.duration <= lease.accumulated:
            return Change(lease, self.end(lease, now, "over by its new terms"), staying(lease.request, terms, give_up))
        try:
            value = self._planned(priced, terms, now, least, give_up, under_way=under_way)
        except NotPlannableError as error:
            raise self._refused(lease, terms, now, least, error, under_way=under_way) from error
        if under_way:
            value = self._counted(lease, value, now)
        grant = granted_anew(self._state, lease, value.request)
        if grant.price != value.grant.price:
            value = self._state.put(replace(value, grant=grant))
        return Change(lease, value, staying(lease.request, value.request, give_up))

    def quote(
        self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None
    ) -> tuple[Lease, tuple[str, ...]]:
        """Return what ``change`` would do. The plan does not change.

        :return: the lease after the change, with its price, and ids of the leases that would lose some of their run
        :raises InvalidValueError: one of the terms cannot be changed
        :raises NoPlaceError: there is no place for the terms
        """
        under_way = self._is_under_way(lease)
        terms, least = self._with_ranges(lease, terms, least, under_way=under_way)
        terms = with_max_price(lease, _with_lasting_sizes(lease, terms, under_way=under_way))
        priced = self._checked(lease, terms, now, least, under_way=under_way)
        over = end_of_work(lease, terms) if under_way else None
        if (over is not None and over <= now) or terms.duration <= lease.accumulated:
            return lease, ()
        plan = self._state.planner.plan
        before = dict(plan.leases)
        try:
            with plan.trial():
                value = self._planned(priced, terms, now, least, (), under_way=under_way)
                after = dict(plan.leases)
        except NotPlannableError as error:
            raise self._refused(lease, terms, now, least, error, under_way=under_way) from error
        lost = [old for key, old in before.items() if key != lease.lease_id and loses(old, after[key])]
        lost.sort(key=lambda old: old.sequence)
        granted = replace(value, grant=granted_anew(self._state, lease, value.request))
        return granted, tuple(old.lease_id for old in lost)

    def _with_ranges(
        self, lease: Lease, terms: LeaseRequest, least: tuple[int, ...] | None, *, under_way: bool
    ) -> tuple[LeaseRequest, tuple[int, ...] | None]:
        """Return new terms with the numbers of nodes that remain to be chosen, as ranges or as the second value.

        A best-effort lease that waits gets ranges, from which its turn in the queue will choose. Where a range stays
        the same, the lease keeps its number of nodes. For other leases, the smallest numbers are returned as the second
        value, for a choice now.
        """
        if least is None or lease.kind is not LeaseKind.BEST_EFFORT or terms.kind is not lease.kind:
            return terms, least
        check_least(terms, least)
        ranged = with_ranges(terms, least)
        if under_way:
            return at_most(ranged), least
        had = dict(enumerate(lease.request.nodes))
        nodes = tuple(
            replace(new, count=had[position].count)
            if new.count_range is not None and position in had and had[position].count_range == new.count_range
            else new
            for position, new in enumerate(ranged.nodes)
        )
        return replace(ranged, nodes=nodes), None

    def _too_dear(self, priced: Lease, terms: LeaseRequest, now: int) -> NoPlaceError:
        """Return the refusal of terms that cost more than ``max_price``, with the longest duration that would not."""
        price, retained, most = priced.grant.price, priced.grant.retained, terms.max_price
        assert price is not None and most is not None
        start = now if terms.start is None else terms.start
        rate = (price - retained) / terms.node_hours if terms.node_hours else 0.0
        cheaper = within_budget(terms, rate, most - retained, start)
        # Only a shorter duration is offered: with fewer nodes, it would be a different lease.
        longest = tuple(each for each in cheaper if each.change == "duration" and each.duration > priced.accumulated)
        return NoPlaceError(Refusal(RefusalReason.PRICE, too_high(terms, priced.grant), alternatives=longest))

    def _counted(self, lease: Lease, reshaped: Lease, now: int) -> Lease:
        """Return a running lease with new terms, after its run under the old terms has been accounted for."""
        state = self._state
        if lease.missing_since is not None:
            lost = sum(host in state.missing_hosts(reshaped) for host in reshaped.holdings[0].assignment)
            reshaped = state.put(state.breaches.without(reshaped, lost, now))
        return state.count_anew(lease, reshaped, now)

    def _checked(
        self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None, *, under_way: bool
    ) -> Lease:
        """Check new terms of a lease, and return the lease with the price of the new terms, but its old terms."""
        check_promise(lease, terms)
        lease = replace(lease, grant=granted_anew(self._state, lease, terms))
        if terms.lease_id != lease.lease_id:
            raise InvalidValueError("lease_id", f"must be {lease.lease_id}, not {terms.lease_id}")
        if lease.is_offered:
            self._busy(lease, "it is an open quote; accept or reject it first")
        if not affordable(terms, lease.grant):
            raise self._too_dear(lease, terms, now)
        if terms.kind is not lease.kind:
            raise InvalidValueError("kind", f"cannot be changed; the lease is a {lease.kind.value} lease")
        if under_way and terms.start != lease.request.start:
            raise InvalidValueError("start", "the lease has started; its start cannot be changed")
        if least is not None:
            check_least(terms, least)
        smallest = terms if least is None else with_counts(terms, least)
        if too_large(self._state.planner.context, smallest) is not None:
            raise NoPlaceError(explain(self._state.planner, smallest, now))
        never = self._state.planner.never_served(smallest)
        # A lease that has started is not stopped by this rule; it is charged what it uses beyond it.
        if never is not None and lease.started is None:
            raise NoPlaceError(Refusal(RefusalReason.POLICY, never))
        view, admission = self._state.view(now), self._state.policies.admission
        refusal = admission.refusal(at_most(terms), now, view)
        # If the old terms would be refused now as well, for example for short notice, the change is not to blame.
        if refusal is not None and admission.refusal(at_most(lease.request), now, view) is None:
            raise NoPlaceError(Refusal(RefusalReason.POLICY, refusal))
        self._check_steady(lease)
        if terms.nodes != lease.request.nodes and (self._boots(lease) or lease.state in SUSPENDED_STATES):
            self._busy(lease, "its nodes cannot be changed before it runs")
        self._check_preemption(lease, terms, under_way=under_way)
        return lease

    def _check_preemption(self, lease: Lease, terms: LeaseRequest, *, under_way: bool) -> None:
        """Check that the preemption terms may change.

        They may not if other leases are planned in the expectation that this one is preempted, or if its work is
        already saved in the old mode.
        """
        old = lease.request
        if terms.preemption_mode is not old.preemption_mode and lease.state in SUSPENDED_STATES:
            self._busy(lease, f"its work is saved by {old.preemption_mode.value}, and continues from there")
        if under_way and _is_cut(lease) and not _same_preemption(old, terms):
            self._busy(lease, "its hosts are promised to other leases, for which it will be suspended")

    def _planned(
        self,
        lease: Lease,
        terms: LeaseRequest,
        now: int,
        least: tuple[int, ...] | None,
        give_up: tuple[int, ...],
        *,
        under_way: bool,
    ) -> Lease:
        state = self._state
        if least is None and _keeps_its_place(lease, terms):
            return state.put(replace(lease, request=terms))
        if under_way:
            with late_hosts_held(state, now):
                return self._reshaped(lease, terms, now, least, give_up)
        if lease.kind is LeaseKind.BEST_EFFORT:
            waiting = lease if not lease.holdings else back_to_queue(lease, "its terms were changed")
            return state.put(replace(waiting, request=terms))
        present = hosts_of(lease, terms, staying(lease.request, terms, give_up), _NOWHERE)
        return plan_anew(state.planner, lease, terms, present, now, least)

    def _reshaped(
        self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None, give_up: tuple[int, ...]
    ) -> Lease:
        planner = self._state.planner

        def reshaped(tried: LeaseRequest) -> Lease:
            present = hosts_of(lease, tried, staying(lease.request, tried, give_up), _NOWHERE)
            assert present is not None
            return reshape(planner, lease, tried, present, now)

        def fits(tried: LeaseRequest) -> bool:
            try:
                with planner.plan.trial():
                    reshaped(tried)
            except NotPlannableError:
                return False
            return True

        granted = terms if least is None else most_that_fits(terms, least, fits)
        if granted is None:
            raise NotPlannableError(f"no place for the minimum number of nodes of lease {lease.lease_id}")
        return reshaped(granted)

    # -- other hosts -------------------------------------------------------------------------------------

    def move(self, lease: Lease, away: frozenset[str], now: int, reason: str) -> Change:
        """Move a lease off the named hosts.

        :raises InvalidValueError: there is no such host
        :raises NoPlaceError: no other hosts are free; nothing has changed
        """
        plan = self._state.planner.plan
        index = plan.site.index
        unknown = sorted(away - index.keys())
        if unknown:
            raise InvalidValueError("hosts", f"there is no host {', '.join(unknown)}")
        numbers = frozenset(index[name] for name in away)
        unchanged = tuple(range(lease.request.node_count))
        if not any(numbers & r.hosts for r in lease.holdings):
            return Change(lease, lease, unchanged)
        self._check_steady(lease)
        if self._boots(lease):
            self._busy(lease, "it cannot be moved before it runs")
        try:
            with closed(plan, numbers, now):
                value = self._moved(lease, numbers, now)
        except NotPlannableError as error:
            problem = f"nodes: no other hosts are free for lease {lease.lease_id} in place of {', '.join(sorted(away))}"
            raise NoPlaceError(Refusal(RefusalReason.CAPACITY, problem)) from error
        return Change(lease, self._state.put(replace(value, reason=reason)), unchanged)

    def _moved(self, lease: Lease, away: frozenset[int], now: int) -> Lease:
        planner = self._state.planner
        terms = lease.request
        present = hosts_of(lease, terms, tuple(range(terms.node_count)), away)
        assert present is not None
        if not self._is_under_way(lease):
            return plan_anew(planner, lease, terms, present, now)
        with late_hosts_held(self._state, now):
            return self._state.count_anew(lease, reshape(planner, lease, terms, present, now), now)

    # -- the end -----------------------------------------------------------------------------------------

    def end(self, lease: Lease, now: int, reason: str, *, by_provider: bool = False) -> Lease:
        """End a lease now: stop it if it runs, discard its saved state, or cancel it if it has not started.

        :param by_provider: whether the provider ends it, without a wish of its project
        :return: its new value, which is final unless its nodes have to be stopped first
        """
        state = self._state
        operation = state.runs[lease.lease_id].operation
        if operation is not None and operation.kind is OperationKind.STOP:
            return lease
        if lease.active_since is None:
            if by_provider:
                lease = state.breaches.withdrawn(lease, now)
            state.cloud.discard(lease.lease_id, now)
            final = LeaseState.DONE if lease.state in _HALF_WAY_STATES else LeaseState.CANCELLED
            return state.finish(lease, final, now, reason)
        closed = state.stop_counting(lease, now)
        if by_provider:
            closed = state.breaches.withdrawn(closed, now)
        first = lease.holdings[0]
        # Leases that follow on its hosts must not start later than planned.
        end = min(now + state.planner.context.suspension.shutdown_time(lease.request), max(first.end, now))
        stopping = replace(first, run_end=now, end=end, closing=Closing.SHUTDOWN)
        closed = state.put(replace(closed, holdings=(stopping,), reason=reason))
        state.begin(OperationKind.STOP, closed, end, now)
        return closed

    # -- helpers -----------------------------------------------------------------------------------------

    def _is_under_way(self, lease: Lease) -> bool:
        """Return whether its nodes run or boot."""
        return self._boots(lease) or lease.active_since is not None

    def _boots(self, lease: Lease) -> bool:
        """Return whether its nodes boot, or have booted ahead of its start."""
        in_operation = lease.lease_id in self._state.runs.operating
        return lease.is_prepared or (lease.state is LeaseState.READY and in_operation)

    def _check_steady(self, lease: Lease) -> None:
        operation = self._state.runs[lease.lease_id].operation
        if operation is not None and operation.kind is not OperationKind.START:
            self._busy(lease, f"its {operation.kind.value} is going on")
        if lease.state not in _STEADY_STATES and not self._state.is_ready(lease):
            self._busy(lease, f"it is {lease.state.value}")

    def _busy(self, lease: Lease, why: str) -> NoReturn:
        raise NoPlaceError(Refusal(RefusalReason.BUSY, f"lease {lease.lease_id} cannot be changed at present: {why}"))

    def _refused(
        self,
        lease: Lease,
        terms: LeaseRequest,
        now: int,
        least: tuple[int, ...] | None,
        error: NotPlannableError,
        *,
        under_way: bool,
    ) -> NoPlaceError:
        """Return the refusal of new terms, with alternatives that fit if the lease gives up its present place."""
        plan = self._state.planner.plan
        if not under_way:
            smallest = terms if least is None else with_counts(terms, least)
            with plan.trial():
                plan.put(replace(lease, holdings=()))
                return NoPlaceError(refusal_of(self._state.planner, smallest, now, error))
        beside = more_nodes_beside(self._state.planner, lease, terms, now)
        with plan.trial():
            plan.put(replace(lease, holdings=()))
            alternatives: tuple[Alternative, ...] = ()
            first = lease.holdings[0]
            hosts, amounts = plan.holding(lease.request, first.assignment)
            until = plan.availability.places_on(hosts, amounts[:-1]).holding_times(now)
            if len(hosts) and len(until) == len(hosts) and int(until[-1]) > first.end:
                longest = lease.request.duration + int(until[-1]) - first.end
                if longest < terms.duration:
                    start = first.run_start if terms.start is None else terms.start
                    alternatives = (Alternative("duration", start, lease.request.node_count, longest),)
        offered = f"; would fit: {in_words(alternatives[0].duration)}" if alternatives else ""
        return NoPlaceError(Refusal(RefusalReason.CAPACITY, f"{error}{offered}{beside}", alternatives=alternatives))


def _is_cut(lease: Lease) -> bool:
    """Return whether the lease is planned to be preempted before its work is done."""
    return any(holding.closing is not Closing.SHUTDOWN for holding in lease.holdings)


def _same_preemption(old: LeaseRequest, new: LeaseRequest) -> bool:
    return (old.preemptible, old.preemption_mode) == (new.preemptible, new.preemption_mode)


def _with_lasting_sizes(lease: Lease, terms: LeaseRequest, *, under_way: bool) -> LeaseRequest:
    """Return new terms in which existing servers keep their sizes, even if these were elastic in the request."""
    has_servers = under_way or lease.started is not None
    return with_sizes_of(terms, lease.request) if has_servers else terms


def _keeps_its_place(lease: Lease, terms: LeaseRequest) -> bool:
    """Return whether new terms differ from the present ones only in what does not affect the lease's place."""
    old = lease.request
    if _is_cut(lease) and not _same_preemption(old, terms):
        return False
    changeable = ("preemptible", "preemption_mode", "extras", "max_price")
    return replace(old, **{name: getattr(terms, name) for name in changeable}) == terms
