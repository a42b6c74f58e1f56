"""Running leases that move to other hosts while they run, because the relocation policy wants it.

Grit 2007, section 6.4 (shirako F116, F117, A20). The plan gets the new hosts, and the cloud follows it, as when an
operator moves a lease. Only leases that are preempted by being moved, and have their hosts until the end of their run,
are moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from lease_scheduler.engine.fractional import FluidShares
from lease_scheduler.engine.late_hosts import late_hosts_held
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.changing.moves import Move, Placement
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.exact_placement import hosts_with_room
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.policy.relocation.base import RelocationPolicy


@dataclass(frozen=True)
class _Node:
    """A VM of a running lease: its index in the lease, and what it needs."""

    lease: Lease
    vm: int
    node_set: int

    @property
    def host(self) -> int:
        return self.lease.holdings[0].assignment[self.vm]


class LiveMoves:
    """Asks the relocation policy at intervals, and moves running leases as it decides.

    Decisions are made at multiples of the interval, so an engine that takes over, or that starts over and over, decides
    when the one before would have, and no more often.

    :param state: state that the parts of the engine share
    :param fluid: knows what fluid leases need
    """

    def __init__(self, state: EngineState, fluid: FluidShares) -> None:
        self._state = state
        self._fluid = fluid
        self._decides_at: int | None = None

    @property
    def _policy(self) -> RelocationPolicy:
        return self._state.policies.relocation

    def next_due(self) -> int | None:
        """Return the next instant at which to decide, or None."""
        if not self._policy.relocates:
            return None
        return self._decides_at if any(run.is_counted for run in self._state.runs.values()) else None

    def follow_clock(self, now: int) -> None:
        """Find out when to decide next. The clock may have been set."""
        interval = self._state.options.relocation.interval
        self._decides_at = (now // interval + 1) * interval

    def move(self, now: int) -> int:
        """Move leases if it is time to, and return how many of their VMs move."""
        if not self._policy.relocates:
            self._decides_at = None
            return 0
        options = self._state.options.relocation
        is_due = self._decides_at is not None and self._decides_at <= now
        self.follow_clock(now)
        if not is_due:
            return 0
        nodes = [node for lease in self._state.planner.plan.leases.values() for node in self._movable(lease, now)]
        moves = self._policy.moves(self._placement(nodes, now)) if nodes else []
        moved = 0
        # Moves from one host may belong together: a host that is not left wholly cannot sleep.
        of_hosts = groupby(moves, key=lambda move: nodes[move.node].host)
        groups = [list(group) for _, group in of_hosts] if self._policy.empties_hosts else [[move] for move in moves]
        for together in groups:
            if moved + len(together) > options.budget:
                break
            if self._carry_out(nodes, together, now):
                moved += len(together)
        if moved:
            self._state.recorder.count("relocated_nodes", moved)
        return moved

    def _movable(self, lease: Lease, now: int) -> Iterator[_Node]:
        """Yield the VMs of a lease if it may be moved."""
        if lease.lease_id in self._state.planner.plan.queue.apart:
            return
        request, rest = lease.request, self._state.options.relocation.rest
        if not request.preemptible or request.preemption_mode is not PreemptionMode.MIGRATE:
            return
        # Most devices cannot move with a running server, which would be shelved.
        if any(node_set.groups for node_set in request.nodes):
            return
        if (
            lease.active_since is None
            or lease.missing_since is not None
            or lease.lease_id in self._state.runs.operating
        ):
            return
        first = lease.holdings[0]
        if len(lease.holdings) > 1 or first.closing is not Closing.SHUTDOWN:
            return
        if now - lease.active_since < rest or first.run_end - now < rest:
            return
        vm = 0
        for number, node_set in enumerate(request.nodes):
            for _ in range(node_set.count):
                yield _Node(lease, vm, number)
                vm += 1

    def _placement(self, nodes: Sequence[_Node], now: int) -> Placement:
        state, plan = self._state, self._state.planner.plan
        end = max(node.lease.holdings[0].end for node in nodes)
        hosts = np.array([node.host for node in nodes], dtype=np.int64)
        usable = np.ones(len(plan.site), dtype=np.bool_)
        usable[sorted({*plan.outages, *state.closed_hosts, *state.occupied, *state.powers.not_awake})] = False
        return Placement(
            capacity=plan.availability.capacity,
            free=plan.availability.free(now, end),
            sizes=np.stack([plan.demands(node.lease.request)[node.node_set].amounts for node in nodes], axis=1),
            hosts=hosts,
            # The plan is what the site follows, so what it says is where nodes should be.
            wished=hosts,
            usable=usable,
            in_use=np.asarray((plan.availability.free_at(now) < plan.availability.capacity).any(axis=0)),
            fluid=self._fluid.load([(node.lease.lease_id, node.vm) for node in nodes], now),
        )

    def _carry_out(self, nodes: Sequence[_Node], moves: Iterable[Move], now: int) -> bool:
        """Move VMs, and return whether all of them could be; if not, nothing has changed."""
        state, plan = self._state, self._state.planner.plan
        wanted: dict[str, list[int]] = {}
        before: dict[str, Lease] = {}
        for move in moves:
            lease = nodes[move.node].lease
            # Another host may have been left before, on which it had nodes too.
            before[lease.lease_id] = present = plan.leases[lease.lease_id]
            hosts = wanted.setdefault(lease.lease_id, list(present.holdings[0].assignment))
            hosts[nodes[move.node].vm] = move.to
        after: list[Lease] = []
        with suppress(NotPlannableError):
            with late_hosts_held(state, now), plan.tentative():
                after = [self._moved(before[lease_id], tuple(hosts), now) for lease_id, hosts in wanted.items()]
            for lease in after:
                state.count_anew(before[lease.lease_id], lease, now)
            return True
        return False

    def _moved(self, lease: Lease, hosts: tuple[int, ...], now: int) -> Lease:
        """Give a running lease other hosts in the plan, from now to the end of its run.

        :raises NotPlannableError: they have no room for it, or may not be used by it
        """
        plan, first = self._state.planner.plan, lease.holdings[0]
        plan.put(replace(lease, holdings=()))
        present = PresentHosts.of(lease.request, hosts, binding=True)
        found, _ = hosts_with_room(
            self._state.planner.context, lease.request, now, first.end, now, may_preempt=False, present=present
        )
        if found != hosts:
            raise NotPlannableError(f"lease {lease.lease_id} cannot have these hosts")
        return plan.put(replace(lease, holdings=(replace(first, assignment=hosts, start=now, run_start=now),)))
