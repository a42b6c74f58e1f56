"""Moves of running leases to other hosts, as the relocation policy decides (Grit 2007, section 6.4; shirako F116, F117,
A20).

The plan gets the new hosts and the cloud follows it, as when an operator moves a lease. Only leases with the preemption
mode ``migrate`` are moved, and only if they have their hosts until the end of their run.
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
    """A node of a running lease.

    :ivar number: index of the node in the lease
    :ivar node_set: index of its node set
    """

    lease: Lease
    number: int
    node_set: int

    @property
    def host(self) -> int:
        return self.lease.holdings[0].assignment[self.number]


class LiveMoves:
    """Moves of running leases, on which the relocation policy decides at intervals.

    Decisions are made at multiples of the interval. So an engine that takes over decides when the one before it would
    have, and an engine that restarts again and again decides no more often.

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
        """Set the instant of the next decision by the clock, which may have been changed."""
        interval = self._state.options.relocation.interval
        self._decides_at = (now // interval + 1) * interval

    def move(self, now: int) -> int:
        """Move leases if a decision is due, and return the number of nodes that move."""
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
        # If the policy empties hosts, all moves from one host belong together: a host with a node left cannot sleep.
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
        """Yield the nodes of a lease, or nothing if it may not be moved."""
        if lease.lease_id in self._state.planner.plan.queue.apart:
            return
        request, rest = lease.request, self._state.options.relocation.rest
        if not request.preemptible or request.preemption_mode is not PreemptionMode.MIGRATE:
            return
        # Most devices cannot move with a running server, so the server would be shelved instead.
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
        node = 0
        for number, node_set in enumerate(request.nodes):
            for _ in range(node_set.count):
                yield _Node(lease, node, number)
                node += 1

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
            # The cloud follows the plan, so nodes should be where the plan has them.
            wished=hosts,
            usable=usable,
            in_use=np.asarray((plan.availability.free_at(now) < plan.availability.capacity).any(axis=0)),
            fluid=self._fluid.load([(node.lease.lease_id, node.number) for node in nodes], now),
        )

    def _carry_out(self, nodes: Sequence[_Node], moves: Iterable[Move], now: int) -> bool:
        """Move nodes, and return whether all of them could be moved; if not, nothing has changed."""
        state, plan = self._state, self._state.planner.plan
        wanted: dict[str, list[int]] = {}
        before: dict[str, Lease] = {}
        for move in moves:
            lease = nodes[move.node].lease
            # Nodes of this lease may have been moved off another host before.
            before[lease.lease_id] = present = plan.leases[lease.lease_id]
            hosts = wanted.setdefault(lease.lease_id, list(present.holdings[0].assignment))
            hosts[nodes[move.node].number] = move.to
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

        :raises NotPlannableError: the hosts lack free capacity, or the lease may not use them
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
