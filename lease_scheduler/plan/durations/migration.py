"""Migration: moving saved memory between hosts before a suspended lease resumes.

Sotomayor 2010, section 5.4.3 (haizea F54).
"""

from __future__ import annotations

from collections import Counter
from math import ceil

from lease_scheduler.model.holding import MigrationRound
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import MEMORY_MB
from lease_scheduler.plan.options import Migration, PlanningOptions


def transfer_time(size_mb: int, bandwidth_mbps: float) -> int:
    """Return the seconds to move ``size_mb`` megabytes at ``bandwidth_mbps`` megabits per second, rounded up."""
    return ceil(size_mb / (bandwidth_mbps / 8))


def migration_of(request: LeaseRequest, options: PlanningOptions) -> Migration:
    """Return whether the saved state of a lease may move, which depends on where it is saved."""
    if request.preemption_mode.leaves_host:
        return Migration.YES_NO_TRANSFER
    return Migration.NO if request.preemption_mode is PreemptionMode.STOP else options.migration


def migration_estimate(request: LeaseRequest, options: PlanningOptions) -> int:
    """Return the seconds in which all nodes of a suspended lease can move, whatever their hosts are.

    Nodes move one after the other, because in the worst case all of them leave the same host. The disk of a node, if it
    moves too, follows its memory.
    """
    if migration_of(request, options) is not Migration.YES:
        return 0
    return sum(
        node_set.count * _node_time(node_set.resources.get(MEMORY_MB, 0), request, options)
        for node_set in request.nodes
    )


def _node_time(memory_mb: int, request: LeaseRequest, options: PlanningOptions) -> int:
    """Return the seconds to move the saved state of one node."""
    seconds = transfer_time(memory_mb, options.migration_bandwidth)
    if options.migrate_disks and request.software is not None:
        seconds += transfer_time(request.software.size_mb, options.migration_bandwidth)
    return seconds


def stay_where_possible(
    request: LeaseRequest, assignment: tuple[int, ...], saved_on: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the assignment with identical nodes exchanged so that as many as possible resume where they were saved."""
    settled: list[int] = []
    first = 0
    for node_set in request.nodes:
        here = slice(first, first + node_set.count)
        left = Counter(assignment[here])
        staying = []
        for host in saved_on[here]:
            stays = left[host] > 0
            left[host] -= stays
            staying.append(host if stays else None)
        others = iter(sorted(left.elements()))
        settled.extend(next(others) if host is None else host for host in staying)
        first += node_set.count
    return tuple(settled)


def plan_migrations(
    request: LeaseRequest,
    saved_on: tuple[int, ...],
    assignment: tuple[int, ...],
    earliest: int,
    options: PlanningOptions,
) -> tuple[MigrationRound, ...]:
    """Return the rounds in which the memory of nodes moves to the hosts where they will resume.

    Each host takes part in at most one move of a round. A round lasts as long as its largest transfer. The first round
    starts at ``earliest``.
    """
    if migration_of(request, options) is not Migration.YES:
        return ()
    sizes = [node_set.resources.get(MEMORY_MB, 0) for node_set in request.nodes for _ in range(node_set.count)]
    moves = [
        (node, origin, destination)
        for node, (origin, destination) in enumerate(zip(saved_on, assignment, strict=True))
        if origin != destination
    ]
    grouped: list[tuple[set[int], list[tuple[int, int, int]]]] = []
    for node, origin, destination in moves:
        group = next((g for g in grouped if origin not in g[0] and destination not in g[0]), None)
        if group is None:
            group = (set(), [])
            grouped.append(group)
        group[0].update((origin, destination))
        group[1].append((node, origin, destination))
    rounds = []
    start = earliest
    for _, members in grouped:
        end = start + _node_time(max(sizes[node] for node, _, _ in members), request, options)
        rounds.append(MigrationRound(start, end, tuple(members)))
        start = end
    return tuple(rounds)
