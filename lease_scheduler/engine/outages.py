"""Outages and changes of hosts: they fail, leave service, return, change or leave the site. Affected leases follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from lease_scheduler.engine.late_hosts import late_hosts_held
from lease_scheduler.engine.relocation import Relocation, most_binding
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.plan.changing.changing import hosts_of, reshape
from lease_scheduler.plan.changing.outages import block, closed, unblock
from lease_scheduler.plan.changing.sleepers import asleep_among
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.exact_placement import hosts_with_room
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import instants_of_room

_HOST_FAILED = "its host failed"
_HOST_CHANGED = "its host no longer has room for it"


class Outages:
    """Hosts that the plan cannot use.

    :param state: state that the parts of the engine share
    :param relocation: finds other places for affected leases
    """

    def __init__(self, state: EngineState, relocation: Relocation) -> None:
        self._state = state
        self._relocation = relocation

    # -- hosts that are out of service -------------------------------------------------------------------

    def host_down(self, host: int, now: int) -> None:
        """Handle a failed host: work that ran or was saved there is lost, and leases planned there soon are moved."""
        state = self._state
        state.vacate(host)
        if host in state.planner.plan.outages and host not in state.closed_hosts:
            return
        state.closed_hosts.discard(host)
        state.recorder.count("host_failures")
        self._take_away(host, now, now + state.options.host_repair_time)

    def host_closed(self, host: int, now: int) -> None:
        """Handle a host that accepts nothing new: leases that run or are saved there stay, planned ones are moved."""
        state = self._state
        if host in state.closed_hosts:
            return
        state.vacate(host)
        state.closed_hosts.add(host)
        if host not in state.planner.plan.outages:
            self._take_away(host, now, FOREVER)

    def host_out(self, name: str, now: int, until: int | None) -> None:
        """Take a host out of service, or change the expected end of its outage.

        :param until: instant at which it is expected back; None means never
        :raises InvalidValueError: there is no such host, or the instant has passed
        """
        host = self.number(name)
        if until is not None and until <= now:
            raise InvalidValueError("until", "must be in the future")
        self._state.vacate(host)
        if host not in self._state.planner.plan.outages:
            self._state.recorder.count("host_failures")
        self._state.closed_hosts.discard(host)
        self._take_away(host, now, FOREVER if until is None else until)

    def host_back(self, name: str, now: int) -> None:
        """Bring a host back into service.

        :raises InvalidValueError: there is no such host
        """
        number = self.number(name)
        self._state.vacate(number)
        self.host_up(number, now)

    def number(self, name: str) -> int:
        """Return the number of a host.

        :raises InvalidValueError: there is no such host
        """
        number = self._state.planner.plan.site.index.get(name)
        if number is None:
            raise InvalidValueError("host", f"there is no host {name}")
        return number

    def _take_away(self, host: int, now: int, until: int) -> None:
        plan = self._state.planner.plan
        block(plan, host, now, until)
        for lease in sorted(plan.leases.values(), key=most_binding):
            # The moves of other leases may have changed this one.
            current = self._state.lease(lease.lease_id)
            if current is not None:
                self._hit_by_outage(current, host, now, until)

    def _hit_by_outage(self, lease: Lease, host: int, now: int, until: int) -> None:
        saved_there = self._is_on_hosts(lease) and host in (lease.saved_on or ())
        first = lease.holdings[0] if lease.holdings else None
        is_there = self._is_physical(lease) and first is not None and host in first.assignment
        if host in self._state.closed_hosts and (is_there or saved_there):
            return
        if is_there and self.goes_on_without(lease):
            self.replace_hosts(lease, now, _HOST_FAILED)
        elif is_there or saved_there:
            self._state.cloud.discard(lease.lease_id, now)
            self._relocation.replace_lost(lease, now, _HOST_FAILED)
        elif any(host in r.assignment and r.start < until for r in lease.holdings):
            self._relocation.move(lease, now, _HOST_FAILED)

    def goes_on_without(self, lease: Lease) -> bool:
        """Return whether a lease continues to run if it loses some of its hosts.

        Running leases with a fixed interval do: they promise capacity, and the project may use what is left of it.
        """
        runs = lease.active_since is not None and lease.lease_id not in self._state.runs.operating
        return runs and lease.kind.promises_interval

    def replace_hosts(self, lease: Lease, now: int, why: str) -> bool:
        """Find other hosts for the nodes of a running lease that cannot use their own.

        If there are none, the lease stays as it is: servers may still run on a host whose compute service does not
        respond for a while.

        :param why: what happened to its hosts, for people
        :return: whether other hosts were found
        """
        state, missing = self._state, self._state.missing_hosts(lease)
        before = lease.holdings[0].assignment
        lost = tuple(node for node, host in enumerate(before) if host in missing)
        unchanged = tuple(range(lease.request.node_count))
        present = hosts_of(lease, lease.request, unchanged, missing)
        assert present is not None
        without = state.runs[lease.lease_id].without
        try:
            # Occupied hosts are not used even if their time is over, because they have not been checked yet.
            with late_hosts_held(state, now), closed(state.planner.plan, without, now):
                moved = state.count_anew(lease, reshape(state.planner, lease, lease.request, present, now), now)
        except NotPlannableError:
            with closed(state.planner.plan, without, now):
                self._make_room_soon(lease, present, now)
            self.goes_without(lease, now, missing, why)
            return False
        state.runs[lease.lease_id].without = frozenset()
        state.recorder.count("moved_reservations")
        whole = replace(state.breaches.whole(moved, now), reason=why)
        state.recorder.hosts_lost(state.put(whole), lost, replaced=True)
        return True

    def goes_without(self, lease: Lease, now: int, missing: frozenset[int], why: str) -> None:
        """Record that a running lease continues without some of its hosts, and tell its project if this is new."""
        state = self._state
        lost = tuple(node for node, host in enumerate(lease.holdings[0].assignment) if host in missing)
        is_known = lease.missing_nodes == len(lost)
        without = state.breaches.without(lease, len(lost), now)
        if not is_known:
            degraded = state.put(replace(without, reason=f"{why}, and no other is free"))
            state.recorder.hosts_lost(degraded, lost, replaced=False)
        elif without is not lease:
            state.put(without)

    def has_all(self, lease: Lease, now: int) -> None:
        """Record that a running lease has all its hosts again, if it has."""
        state = self._state
        if not self.goes_on_without(lease) or lease.missing_since is None:
            return
        if state.missing_hosts(lease).isdisjoint(lease.holdings[0].assignment):
            state.recorder.hosts_whole(state.put(state.breaches.whole(lease, now)))

    def _make_room_soon(self, lease: Lease, present: PresentHosts, now: int) -> None:
        """Have other leases suspended for a reservation that lacks hosts. It gets their hosts when they have left."""
        if lease.kind is not LeaseKind.RESERVATION:
            return
        context, plan = self._state.planner.context, self._state.planner.plan
        end = lease.holdings[0].end
        for room_at in instants_of_room(context, now, end, now):
            with suppress(NotPlannableError), plan.tentative():
                plan.put(replace(lease, holdings=()))
                _, in_the_way = hosts_with_room(
                    context, lease.request, room_at, end, now, may_preempt=True, present=replace(present, binding=True)
                )
                plan.put(lease)
                make_room(context, in_the_way, room_at, end, now)
                return

    def _heal(self, now: int) -> None:
        """Find hosts for leases that run without some of theirs, because hosts may have become free or returned."""
        state = self._state
        for lease in sorted(state.planner.plan.leases.values(), key=most_binding):
            if not self.goes_on_without(lease) or not lease.holdings:
                continue
            missing = state.missing_hosts(lease)
            if not missing.isdisjoint(lease.holdings[0].assignment):
                self.replace_hosts(lease, now, _HOST_FAILED)

    @staticmethod
    def _is_on_hosts(lease: Lease) -> bool:
        """Return whether a lease has saved state that is on its hosts, and lost with them."""
        return lease.saved_on is not None and not lease.request.preemption_mode.leaves_host

    def _is_physical(self, lease: Lease) -> bool:
        """Return whether servers of the lease are on its hosts, or are about to be."""
        return lease.active_since is not None or lease.is_prepared or lease.lease_id in self._state.runs.operating

    def host_up(self, host: int, now: int) -> None:
        """Handle a host that is back, empty. Leases that have a later place may use it at once."""
        plan = self._state.planner.plan
        if host not in plan.outages or host in self._state.occupied:
            return
        expected_end = plan.outages[host][1]
        self._state.closed_hosts.discard(host)
        unblock(plan, host)
        for lease in [each for each in plan.leases.values() if self.goes_on_without(each)]:
            assignment = lease.holdings[0].assignment
            if host in assignment and self._state.missing_hosts(lease).isdisjoint(assignment):
                # Servers on the host have continued, or the project can start them again.
                whole = self._state.breaches.whole(lease, now)
                if whole is not lease:
                    self._state.put(whole)
                self._state.recorder.hosts_whole(whole)
        self._heal(now)
        moved = self._state.use_freed(1, now, expected_end)
        self._state.recorder.count("replans", moved)

    def extend(self, now: int) -> None:
        """Extend outages that have reached their expected end, and move leases that are planned there."""
        plan = self._state.planner.plan
        for host in sorted(plan.outages.keys() - self._state.occupied.keys()):
            if plan.outages[host][1] <= now:
                self._take_away(host, now, now + self._state.options.host_repair_time)
        self._heal(now)

    def restore(self, outages: Mapping[str, tuple[int, int | None]], closed: Iterable[str]) -> None:
        """Take over outages from an engine that has stopped; see ``Engine.restore``."""
        plan = self._state.planner.plan
        for name, (since, until) in outages.items():
            if name not in plan.site.index:
                raise InvalidValueError("outages", f"there is no host {name}")
            block(plan, plan.site.index[name], since, FOREVER if until is None else until)
        self._state.closed_hosts.update(plan.site.index[name] for name in closed)

    # -- another site ------------------------------------------------------------------------------------

    def change_site(self, site: Site, now: int) -> Site:
        """Replace the hosts.

        Leases that no longer fit on a smaller host, and leases on hosts that left, are treated as if the host had
        failed. Best-effort leases come first, and the youngest within each kind, until the rest fits.

        :return: the resulting site, see ``Site.succeeded_by``
        """
        plan = self._state.planner.plan
        merged = plan.site.succeeded_by(site)
        plan.change_site(merged, now)
        for lease in sorted(plan.leases.values(), key=most_binding, reverse=True):
            current = self._state.lease(lease.lease_id)
            if current is not None:
                self._hit_by_change(current, now)
        moved = self._state.use_freed(len(merged), now, FOREVER)
        self._state.recorder.count("replans", moved)
        return merged

    def _hit_by_change(self, lease: Lease, now: int) -> None:
        hosts = self._state.planner.plan.site.hosts
        lost_memory = self._is_on_hosts(lease) and any(not hosts[host].capacity for host in lease.saved_on or ())
        misplaced = [r for r in lease.holdings if self._has_no_room(lease, r, now)]
        if lost_memory or (misplaced and misplaced[0] is lease.holdings[0] and self._is_physical(lease)):
            self._state.cloud.discard(lease.lease_id, now)
            self._relocation.replace_lost(lease, now, _HOST_CHANGED)
        elif misplaced:
            self._relocation.move(lease, now, _HOST_CHANGED)

    def _has_no_room(self, lease: Lease, holding: Holding, now: int) -> bool:
        """Return whether a host of a holding is too small for its node, or for everything that is planned on it."""
        plan = self._state.planner.plan
        start = max(now, holding.start)
        if holding.end <= start or not holding.assignment:
            return False
        nodes = [node_set for node_set in lease.request.nodes for _ in range(node_set.count)]
        for node_set, host in zip(nodes, holding.assignment, strict=True):
            if not plan.can_ever_hold(host, node_set):
                return True
        used, _ = plan.holding(lease.request, holding.assignment)
        # The plan shows hosts that are out of service or asleep as full, so their real use must be recomputed.
        is_in_use = plan.outages.keys().isdisjoint(used.tolist()) and not len(asleep_among(plan, used))
        availability = plan.availability if is_in_use else plan.rebuilt(now)
        return bool((availability.free(start, holding.end)[:, used] < 0).any())
