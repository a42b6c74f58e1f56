"""Decisions of the power policy: which hosts sleep, and which sleeping hosts leases may use.

Amini Salehi 2012, sections 6.3.2 and 6.3.3 (contention F58-F64).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from lease_scheduler.engine.fractional_view import nodes_on_empty_hosts
from lease_scheduler.engine.power import HostPowers
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.plan.capacity.availability import FOREVER, Availability, BoolArray, IntArray
from lease_scheduler.plan.options import RoomLead
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import evict, loses_work
from lease_scheduler.policy.power.base import PowerPolicy, PowerView, Shortage, Waiting


class PowerDecisions:
    """Decisions of the power policy, and the changes of the plan that follow from them.

    :param state: state that the parts of the engine share
    :param powers: keeps the wanted power states of hosts
    """

    def __init__(self, state: EngineState, powers: HostPowers) -> None:
        self._state = state
        self._powers = powers
        self._looks_at: int | None = None
        self._decides_at = 0
        # Number of hosts that the latest decision wants awake for waiting leases.
        self._wanted = 0

    @property
    def _policy(self) -> PowerPolicy:
        return self._state.policies.power

    @property
    def _options(self) -> PowerOptions:
        return self._state.options.power

    def next_due(self) -> int | None:
        """Return the next instant at which to decide, or None."""
        if not self._policy.manages:
            return None
        waits = self._decides_at if self._state.powers and self._state.planner.plan.queue.best_effort_waits else None
        return min((each for each in (self._looks_at, waits) if each is not None), default=None)

    # -- a reservation -----------------------------------------------------------------------------------

    def for_request(self, request: LeaseRequest, now: int) -> tuple[IntArray, int]:
        """Return the sleeping hosts that a request should not use, ascending, and the number of hosts to empty then.

        If the request has no place without these hosts, it may use them: no request is refused because a host sleeps.
        """
        state, plan = self._state, self._state.planner.plan
        sleepers = state.powers.off_hosts
        if len(sleepers) and request.kind is LeaseKind.RESERVATION and not request.moves_others:
            start = now if request.start is None else max(now, request.start)
            end = start + request.duration
            awake = self._places(request, plan.availability, start, end)
            victims = [lease for lease in plan.leases.values() if lease.kind is LeaseKind.BEST_EFFORT]
            emptied = plan.without(victims, start, until=end)
            missing = _missing(request, awake, sleepers)
            left = min(missing, _missing(request, self._places(request, emptied, start, end), sleepers))
            decision = self._policy.for_reservation(Shortage(request.node_count, missing, left), self.view(now))
            return sleepers[~self._is_opened(sleepers, awake, decision.wake)], decision.empty
        return np.empty(0, dtype=np.int64), 0

    def _places(self, request: LeaseRequest, availability: Availability, start: int, end: int) -> list[IntArray]:
        """Return how many nodes of each node set fit on each host in an interval."""
        demands = self._state.planner.plan.demands(request)
        return [
            availability.places(each.amounts, each.eligible, each.per_host).on_hosts(start, end) for each in demands
        ]

    @staticmethod
    def _is_opened(sleepers: IntArray, places: list[IntArray], nodes: int) -> BoolArray:
        """Return which sleeping hosts are opened: the first ones on which this many nodes fit, shape (sleepers,)."""
        fitting = np.maximum.reduce([each[sleepers] for each in places])
        before: IntArray = fitting.cumsum() - fitting
        is_opened: BoolArray = (before < nodes) & (fitting > 0)
        return is_opened

    # -- at intervals ------------------------------------------------------------------------------------

    def serve_waiting(self, now: int) -> None:
        """Wake hosts for waiting leases, or empty some, as the policy decides."""
        state = self._state
        if not self._policy.manages or now < self._decides_at or not state.planner.plan.queue.best_effort_waits:
            return
        view = self.view(now)
        self._decides_at = now + self._options.interval
        decision = self._policy.for_queue(view)
        self._wanted = decision.wake
        if decision.wake:
            self._wanted = max(decision.wake, self._widest_apart())
        woken = self._have_awake(self._wanted, self._waiting_leases(), now)
        if woken:
            state.recorder.count("replans", state.use_freed(woken, now, FOREVER))
        self.empty(decision.empty, now)

    def serve_apart(self, now: int) -> None:
        """Wake hosts for leases that the fractional policy left waiting, if no power policy decides when hosts wake."""
        state = self._state
        if not self._policy.manages and state.planner.plan.queue.waiting_apart and state.powers.off:
            self._have_awake(self._widest_apart(), self._waiting_leases(), now)

    def _widest_apart(self) -> int:
        """Return the largest number of nodes of a waiting lease that is set apart from the queue.

        The fractional policy decides which of these leases comes first, so each of them must fit.
        """
        plan = self._state.planner.plan
        return max((plan.leases[each].request.node_count for each in plan.queue.waiting_apart), default=0)

    def _have_awake(self, count: int, leases: Iterable[Lease], now: int) -> int:
        """Wake hosts until this many are idle or waking, and return the number of hosts woken.

        :param leases: waiting leases; only hosts on which their nodes fit count
        """
        powers = self._state.powers
        awake = np.zeros(len(self._state.planner.plan.site), np.bool_)
        awake[[*(powers.changing - powers.off), *self._idle(now)]] = True
        woken = 0
        for suits, nodes in self._suitable(leases, count):
            asleep = powers.off_hosts[suits[powers.off_hosts]]
            hosts = asleep[: max(0, min(count, nodes) - int((awake & suits).sum()))].tolist()
            awake[hosts] = True
            woken += self._powers.wake(hosts, now)
        return woken

    def _suitable(self, leases: Iterable[Lease], count: int) -> list[tuple[BoolArray, int]]:
        """Return sets of hosts, and how many of each set waiting leases can use at once.

        There is a set for each sort of nodes that do not fit everywhere, so that no lease waits forever while only
        hosts that are too small for it are awake. The last set has all hosts on which any node fits.

        :param leases: waiting leases
        :param count: number of hosts of the last set that should be awake
        """
        widest: dict[bytes, tuple[BoolArray, int]] = {}
        everywhere = np.ones(len(self._state.planner.plan.site), np.bool_)
        together = ~everywhere
        for suits, nodes in self._node_sets(leases):
            together |= everywhere if suits is None else suits
            if suits is not None:
                key = suits.tobytes()
                widest[key] = suits, max(nodes, widest[key][1] if key in widest else 0)
        return [*widest.values(), (together, count)]

    def _node_sets(self, leases: Iterable[Lease]) -> Iterator[tuple[BoolArray | None, int]]:
        """Yield, for each node set, the hosts on which one of its nodes fits if they are empty, and its nodes' number.

        The hosts are None if a node fits on all of them.
        """
        plan = self._state.planner.plan
        apart = plan.queue.waiting_apart
        alike = {(lease.request.nodes, lease.lease_id in apart): lease.request for lease in leases}
        for (_, is_apart), request in alike.items():
            if is_apart:
                fits: BoolArray = nodes_on_empty_hosts(self._state, request) > 0
                yield fits, request.node_count
                continue
            for demand in plan.demands(request):
                yield demand.eligible, demand.count

    def let_sleep(self, now: int) -> None:
        """Let hosts sleep on which nothing is planned, and wake some if there are too few spare hosts."""
        if not self._policy.manages:
            return
        state, options = self._state, self._options
        self._looks_at = None
        ready = []
        idle = self._idle(now)
        self._policy.follow(state.planner.plan.site)
        told = self._policy.spare_hosts(now)
        spare = options.spare_hosts if told is None else max(told, options.spare_hosts)
        if told is not None and len(idle) < spare:
            waking = len(state.powers.changing - state.powers.off)
            self._powers.wake(state.powers.off_hosts.tolist()[: max(0, spare - len(idle) - waking)], now)
        for host in idle:
            power = state.powers.get(host)
            awake_until = 0 if power is None else power.since + options.minimum_on_time
            if awake_until > now:
                self._look_by(awake_until)
            else:
                ready.append(host)
        rests = [until for until in self._powers.rests.values() if until > now]
        if rests:
            self._look_by(min(rests))
        # Idle hosts that must stay awake for now count as spare, too.
        young = len(idle) - len(ready)
        kept = max(0, spare - young) if told is not None else options.spare_hosts
        if apart := state.planner.plan.queue.waiting_apart:
            # Unlike queued leases, these have no place in the plan yet that would keep a host awake for them.
            kept = max(kept, self._wanted - young)
            suits = self._suitable((state.planner.plan.leases[each] for each in apart), 0)[-1][0]
            ready.sort(key=lambda host: not suits[host])
        if len(ready) > kept:
            # Hosts are filled from the first one, so the last ones can sleep longest.
            self._powers.fall_asleep(ready[kept:], now)

    def _look_by(self, instant: int) -> None:
        self._looks_at = instant if self._looks_at is None else min(self._looks_at, instant)

    def _idle(self, now: int) -> list[int]:
        """Return the hosts that are awake and on which nothing is planned soon, ascending."""
        plan, options = self._state.planner.plan, self._options
        soon = self._powers.wake_ahead
        horizon = min(FOREVER, now + max(options.sleep_horizon, soon))
        is_idle = plan.availability.is_unused(now, horizon)
        is_idle[self._state.powers.not_awake_hosts] = False
        # Usually no host is idle, so the rest is skipped.
        if not is_idle.any():
            return []
        is_idle &= self._is_host()
        out = plan.outages.keys() | self._powers.kept_awake(now)
        return [host for host in is_idle.nonzero()[0].tolist() if host not in out]

    def _is_host(self) -> BoolArray:
        """Return which units of the site are hosts with capacity, and not floating IPs, shape (hosts,)."""
        plan = self._state.planner.plan
        capacity = plan.availability.capacity
        is_host: BoolArray = (capacity != 0).any(axis=0)
        if FLOATING_IP in plan.classes:
            is_host &= capacity[plan.classes.index(FLOATING_IP)] == 0
        return is_host

    # -- emptying hosts ----------------------------------------------------------------------------------

    def empty(self, count: int, now: int) -> None:
        """Move leases off this many hosts, those with the fewest leases first, and let these hosts sleep.

        Only best-effort leases are moved, and none of them loses work. So hosts with other leases stay awake, and fewer
        hosts may be emptied.
        """
        if count <= 0:
            return
        state = self._state
        held: dict[int, list[Lease]] = {}
        for lease in state.planner.plan.leases.values():
            for host in frozenset[int]().union(*(holding.hosts for holding in lease.holdings)):
                held.setdefault(host, []).append(lease)
        kept = state.planner.plan.outages.keys() | self._powers.kept_awake(now) | state.powers.not_awake
        for host in sorted(held, key=lambda each: (len(held[each]), -each)):
            if count <= 0:
                return
            power = state.powers.get(host)
            is_young = power is not None and power.since + self._options.minimum_on_time > now
            if host in kept or is_young:
                continue
            if self._moves_away(host, held[host], now):
                self._powers.fall_asleep([host], now)
                state.recorder.count("emptied_hosts")
                count -= 1

    def _moves_away(self, host: int, leases: list[Lease], now: int) -> bool:
        """Move all leases off a host, and return whether this was possible; if not, nothing has changed."""
        plan = self._state.planner.plan
        present = [plan.leases[each.lease_id] for each in leases]
        # Some may have left already, because they were also on a host that was emptied before.
        staying = [lease for lease in present if any(host in holding.hosts for holding in lease.holdings)]
        if not all(map(self._may_be_moved, staying)):
            return False
        with suppress(NotPlannableError), plan.tentative():
            for lease in staying:
                if loses_work(lease, evict(self._state.planner.context, lease, self._leaves_at(lease, now), now)):
                    raise NotPlannableError(f"lease {lease.lease_id} would lose work")
            return True
        return False

    def _may_be_moved(self, lease: Lease) -> bool:
        request, state = lease.request, self._state
        is_movable = request.may_be_preempted
        return (
            lease.kind is LeaseKind.BEST_EFFORT
            and is_movable
            and lease.lease_id not in state.runs.operating
            and (lease.active_since is None or request.preemption_mode.leaves_host)
        )

    def _leaves_at(self, lease: Lease, now: int) -> int:
        """Return the earliest instant at which a lease can have left its hosts with its work saved."""
        context = self._state.planner.context
        if lease.active_since is None or context.options.room_lead is RoomLead.CHARGE:
            return now
        saving = context.suspension.suspend_time(lease.request, lease.holdings[0].assignment)
        return now + context.options.preemption_grace + saving + context.options.suspend_buffer + 1

    # -- input of the policy -----------------------------------------------------------------------------

    def view(self, now: int) -> PowerView:
        """Return the input of the policy for one decision."""
        return PowerView(lambda: self._waiting(now), lambda: self._load(now))

    def _waiting(self, now: int) -> list[Waiting]:
        expected, durations = self._state.planner.context.duration.expected, self._policy.durations
        return [
            Waiting(
                lease.request.node_count,
                now - lease.request.submitted - lease.accumulated,
                durations.of_rest(lease.request, max(1, min(expected(lease), lease.remaining))),
            )
            for lease in self._waiting_leases()
        ]

    def _waiting_leases(self) -> Iterator[Lease]:
        """Yield the best-effort leases that do not run."""
        for lease in self._state.planner.plan.leases.values():
            is_waiting = lease.active_since is None and lease.lease_id not in self._state.runs.operating
            if lease.kind is LeaseKind.BEST_EFFORT and is_waiting:
                yield lease

    def _load(self, now: int) -> float:
        """Return the planned node-seconds, divided by the total seconds until the last end on each host (equation 6.5).

        At most 1; 1 if nothing is planned.
        """
        taken, last = 0, Counter[int]()
        durations = self._policy.durations
        for lease in self._state.planner.plan.leases.values():
            for holding in lease.holdings:
                if holding.end > now:
                    first = max(now, holding.start)
                    end = first + durations.of_rest(lease.request, holding.end - first)
                    taken += (end - first) * len(holding.assignment)
                    for host in holding.hosts:
                        last[host] = max(last[host], end - now)
        total = sum(last.values())
        return min(1.0, taken / total) if total else 1.0


def _missing(request: LeaseRequest, places: list[IntArray], sleepers: IntArray) -> int:
    """Return how many nodes do not fit on the hosts that are awake, if each node set were placed by itself."""
    missing = 0
    for node_set, each in zip(request.nodes, places, strict=True):
        missing += max(0, node_set.count - int(each.sum()) + int(each[sleepers].sum()))
    return missing
