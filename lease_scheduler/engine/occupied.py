"""Occupied hosts: leases cannot use them, because other servers are on them and stay there.

A lease that should use such a host gets other hosts if there are any. If not, it starts on the rest of its hosts, and
gets the missing ones as soon as they are free. Other leases do not lose their places: a lease that is planned on such a
host for later checks the host when it starts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.outages import Outages
from lease_scheduler.engine.relocation import most_binding
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import PLANNED_STATES
from lease_scheduler.plan.changing.sleepers import give_back
from lease_scheduler.plan.plan import NotPlannableError

#: Seconds after which an occupied host is checked again.
LOOK_AGAIN_AFTER = 60

#: For a lease with a short interval, the seconds are the rest of the interval divided by the first number, but at least
#: the second number.
_LOOKS_LEFT, _SHORTEST_LOOK = 4, 5

#: Reasons for tenants. Only operators may know whose servers these are, and where.
_OCCUPIED = "one of its hosts is not free: other servers are on it and do not give way"
_NOT_AWAKE = "one of its hosts is not awake yet"
_NOTHING_FREE = "its hosts are not free: other servers are on them and do not give way"
_NOTHING_AWAKE = "its hosts did not wake in time"


class OccupiedHosts:
    """Handling of hosts that are occupied when leases should get them; see the module.

    :param state: state that the parts of the engine share
    :param deviations: replans leases
    :param outages: handles running leases that lack hosts
    """

    def __init__(self, state: EngineState, deviations: Deviations, outages: Outages) -> None:
        self._state = state
        self._relocation = deviations.relocation
        self._failures = deviations.failures
        self._retries = deviations.retries
        self._outages = outages

    def refused(self, lease: Lease, operation: Operation | None, hosts: Collection[int], now: int) -> None:
        """Handle a lease that did not get some hosts, because other servers are on them.

        :param operation: the operation that failed; None if the lease runs and should have got additional hosts
        """
        state = self._state
        state.recorder.count("occupied_hosts", len(hosts))
        again = now + (LOOK_AGAIN_AFTER if operation is None else _look_again_after(lease, now))
        for host in hosts:
            state.occupy(host, now, again)
        if operation is None:
            if self._outages.goes_on_without(lease):
                missing = state.runs[lease.lease_id].without | frozenset(hosts)
                state.runs[lease.lease_id].without = missing & lease.holdings[0].hosts
                if not self._outages.replace_hosts(lease, now, _OCCUPIED):
                    self._take_the_rest(lease, now)
        elif operation.kind is OperationKind.START and lease.kind.promises_interval:
            state.cloud.discard(lease.lease_id, now)
            self._begin_elsewhere(lease, now)
        else:
            self._failures.refused_hosts(lease, operation.kind, now, _OCCUPIED)

    # -- leases that cannot be suspended ---------------------------------------------------------------------

    def stays(self, lease: Lease, host: int | None, reason: str, now: int) -> None:
        """Handle a lease that could not be suspended: it keeps its hosts, and the suspension is tried again.

        Leases that should start there get other hosts. If there are none, they start on the rest of their hosts, and
        get the missing ones as soon as this lease has left them.

        :param host: host on which the suspension failed, or None if unknown
        :param reason: reason that the cloud gave, for people
        """
        state = self._state
        until = self._retries.suspend_later(lease, now, reason) + LOOK_AGAIN_AFTER
        lease = state.lease(lease.lease_id) or lease
        first = lease.holdings[0]
        hosts = first.hosts if host is None or host not in first.hosts else frozenset({host})
        if lease.lease_id in state.runs.stuck:
            hosts |= state.runs[lease.lease_id].stuck
        elif self._is_held(lease, until, now):
            return
        state.runs.stick(lease.lease_id, hosts)
        state.recorder.count("occupied_hosts", len(hosts))
        # Leases that start without these hosts still hold them in the plan, so this lease must not hold them as well.
        state.put(replace(lease, holdings=(replace(first, end=max(now, first.run_end)),)))
        for each in hosts:
            state.occupy(each, now, until)
        for other in self._to_begin_on(hosts, now, until):
            self._begin_elsewhere(other, now)
        for other in list(state.planner.plan.leases.values()):
            if self._outages.goes_on_without(other) and other.missing_since is not None:
                # It may have run without these hosts since before this engine took over.
                known = state.runs[other.lease_id].without
                state.runs[other.lease_id].without = known | hosts & other.holdings[0].hosts

    def _is_held(self, lease: Lease, until: int, now: int) -> bool:
        """Let a lease keep its hosts in the plan, if all leases with a fixed interval there can start elsewhere.

        :return: whether it keeps them
        """
        plan, first = self._state.planner.plan, lease.holdings[0]
        try:
            with plan.tentative():
                plan.put(replace(lease, holdings=(replace(first, end=max(first.end, until)),)))
                for other in self._to_begin_on(first.hosts, now, until):
                    away = [node for node, host in enumerate(other.holdings[0].assignment) if host in first.hosts]
                    if not self._relocation.fits(first.hosts, now, until):
                        self._relocation.place_anew(other, away, now)
                if not self._would_fit(first.hosts, now, until):
                    raise NotPlannableError("its hosts are promised to other leases")
        except NotPlannableError:
            return False
        self._relocation.make_way(first.hosts, now, until, keep=lease.lease_id)
        return True

    def _would_fit(self, hosts: frozenset[int], now: int, until: int) -> bool:
        """Return whether hosts would not be overcommitted without the leases that may start later."""
        plan = self._state.planner.plan
        with plan.trial():
            for other in list(plan.leases.values()):
                if not other.kind.promises_interval and other.lease_id not in self._state.runs.operating:
                    kept = tuple(r for r in other.holdings if r.start <= now or hosts.isdisjoint(r.assignment))
                    plan.put(replace(other, holdings=kept))
            return self._relocation.fits(hosts, now, until)

    def _to_begin_on(self, hosts: frozenset[int], now: int, until: int) -> list[Lease]:
        """Return the leases with a fixed interval that are to start on some of the hosts, most binding first.

        :param until: instant before which they start
        """
        return [
            lease
            for lease in sorted(self._state.planner.plan.leases.values(), key=most_binding)
            if lease.kind.promises_interval
            and lease.state in PLANNED_STATES
            and lease.lease_id not in self._state.runs.operating
            and any(r.start < until and r.end > now and hosts & r.hosts for r in lease.holdings)
        ]

    def left(self, lease: Lease, now: int) -> None:
        """Record that a lease has been suspended after all, so that its hosts are checked again at once."""
        for host in self._state.runs.loosen(lease.lease_id) & self._state.occupied.keys():
            self._state.occupy(host, now, now)

    def keeps_out(self, lease: Lease, now: int) -> bool:
        """Find another place for a lease that should start now, if some of its hosts are unusable.

        A host is unusable if a lease on it cannot be suspended, or if it is not awake.

        :return: whether the lease does not start now
        """
        if lease.holdings[0].start > now:
            # Only its memory starts to move now. A new plan would give it the same place.
            return False
        state, hosts = self._state, lease.holdings[0].hosts
        not_awake = state.not_awake & hosts
        occupied = ((state.stuck_hosts & hosts) | not_awake) - state.runs[lease.lease_id].without
        if not occupied:
            return False
        if not_awake - state.occupied.keys():
            state.recorder.count("late_host_wakes", len(not_awake - state.occupied.keys()))
        for host in occupied:
            # From now on, a host that is not awake is kept out of the plan as occupied, not as asleep.
            give_back(state.planner.plan, [host], now)
            state.occupy(host, now, max(state.occupied.get(host, 0), now + LOOK_AGAIN_AFTER))
        if lease.kind.promises_interval:
            self._begin_elsewhere(lease, now)
        else:
            self._relocation.move(lease, now, _NOT_AWAKE if not_awake else _OCCUPIED)
        return True

    # -- hosts for a lease whose own are occupied ------------------------------------------------------------

    def _begin_elsewhere(self, lease: Lease, now: int) -> None:
        """Give as many free hosts as possible to a lease that could not start; if there are none, try again later."""
        state, first = self._state, lease.holdings[0]
        if max(now, first.run_start) >= first.run_end:
            self._relocation.fail(lease, now, self._nothing_free(first.hosts))
            return
        lost = [node for node, host in enumerate(first.assignment) if host in state.occupied]
        for kept in range(len(lost) + 1):
            away, staying = lost[: len(lost) - kept], lost[len(lost) - kept :]
            occupied = frozenset(first.assignment[node] for node in staying)
            with self._assumed_free(occupied, now):
                placed = self._relocation.place_anew(lease, away, now)
            if placed is None:
                continue
            without = placed.holdings[0].hosts & state.occupied.keys()
            if placed.holdings[0].hosts - without:
                state.runs[lease.lease_id].without = without
                # If its place is unchanged, the plan does not change, and nothing else puts the start on the agenda.
                state.note(placed, now)
                return
        self._try_later(lease, now)

    def _nothing_free(self, hosts: frozenset[int]) -> str:
        """Return why none of the hosts can be used, for people."""
        return _NOTHING_FREE if hosts.isdisjoint(self._state.not_awake) else _NOTHING_AWAKE

    @contextmanager
    def _assumed_free(self, hosts: frozenset[int], now: int) -> Iterator[None]:
        """Plan, within the block, as if some occupied hosts were free.

        A lease that is planned there runs without these hosts until they are really free.
        """
        state = self._state
        until = {host: state.occupied[host] for host in hosts}
        for host in hosts:
            state.vacate(host)
        try:
            yield
        finally:
            for host in hosts:
                state.occupy(host, now, until[host])

    def _try_later(self, lease: Lease, now: int) -> None:
        ends = f"{self._nothing_free(lease.holdings[0].hosts)}, and no others are free"
        later = self._relocation.start_later(lease, now + _look_again_after(lease, now), now, ends)
        if later is not None:
            self._state.put(later)

    def _take_the_rest(self, lease: Lease, now: int) -> None:
        """Have the cloud start the nodes of a running lease on those of its hosts that are free."""
        assignment, without = lease.holdings[0].assignment, self._state.runs[lease.lease_id].without
        adjust = Operation(OperationKind.ADJUST, lease.lease_id, assignment, now, now, without=without)
        self._state.cloud.begin(adjust)

    def begun(self, lease: Lease, now: int) -> None:
        """Record which hosts are missing for a lease that has just started to run."""
        state = self._state
        without = state.runs[lease.lease_id].without
        if without:
            why = _OCCUPIED if without.isdisjoint(state.not_awake) else _NOT_AWAKE
            self._outages.goes_without(lease, now, without, why)

    def followed(self, lease: Lease, now: int) -> None:
        """Record that a lease has got all its hosts."""
        run = self._state.runs[lease.lease_id]
        without, run.without = run.without, frozenset()
        for host in without:
            self._state.vacate(host)
        self._outages.has_all(lease, now)

    def look_again(self, now: int) -> None:
        """Check occupied hosts again whose time has come, and let leases that run without them try to get them."""
        state = self._state
        over = [host for host, until in state.occupied.items() if until <= now]
        stuck = state.stuck_hosts | state.not_awake
        for host in stuck.intersection(over):
            state.occupy(host, now, now + LOOK_AGAIN_AFTER)
        over = [host for host in over if host not in stuck]
        for host in over:
            state.vacate(host)
        for lease_id, without in sorted((key, run.without) for key, run in state.runs.items() if run.without):
            lease = state.lease(lease_id)
            if lease is None or without.isdisjoint(over) or not self._outages.goes_on_without(lease):
                continue
            # The host stays out of the plan until the cloud has confirmed that it is free.
            for host in without & set(over):
                state.occupy(host, now, now + LOOK_AGAIN_AFTER)
            assignment = lease.holdings[0].assignment
            state.cloud.begin(Operation(OperationKind.ADJUST, lease_id, assignment, now, now))


def _look_again_after(lease: Lease, now: int) -> int:
    """Return the seconds after which to check again whether the hosts of a lease are free.

    For a short lease they are fewer: the cause may be a fault of the cloud that ends before the lease does.
    """
    if not lease.kind.promises_interval or not lease.holdings:
        return LOOK_AGAIN_AFTER
    left = lease.holdings[0].run_end - max(now, lease.holdings[0].run_start)
    return min(LOOK_AGAIN_AFTER, max(_SHORTEST_LOOK, left // _LOOKS_LEFT))
