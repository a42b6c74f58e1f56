"""Lateness: how much longer operations take than planned, and the buffers that follow from it (haizea F95)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.planner import Planner

#: Number of operations of each kind that are remembered. Older ones are dropped, because a cloud may become faster.
_REMEMBERED = 100

_KINDS = (OperationKind.SUSPEND, OperationKind.RESUME, OperationKind.START, OperationKind.STOP)


class Lateness:
    """Observer of operations, which sets the planner's buffers to the time that most of them need.

    The lateness of a start is the time since its command, because no time is planned for it. That of other operations
    is the time beyond their duration by the model, without buffers.

    :param planner: planner whose buffers are set
    :param quantile: share of the operations that should be over in time; None to observe nothing
    """

    def __init__(self, planner: Planner, quantile: float | None) -> None:
        self._planner = planner
        self._quantile = quantile
        self._seconds = {kind: deque[int](maxlen=_REMEMBERED) for kind in _KINDS}
        self._changed: set[OperationKind] = set()

    def completed(self, operation: Operation, lease: Lease, now: int) -> bool:
        """Record a completed operation of a lease.

        :return: whether the buffers changed
        """
        if self._quantile is None or operation.kind not in self._seconds:
            return False
        planned = self._planned(operation.kind, lease, operation.assignment)
        before = self._buffers()
        self._seconds[operation.kind].append(max(0, now - operation.begun - planned))
        self._changed.add(operation.kind)
        if self._buffers() == before:
            return False
        self._apply()
        return True

    def due(self, kind: OperationKind, lease: Lease, due: int, now: int) -> int:
        """Return the instant at which an operation that begins now should be over by the model, without buffers.

        :param due: instant at which it should be over by the plan, with buffers
        """
        if self._quantile is None or kind not in (OperationKind.RESUME, OperationKind.STOP):
            return due
        return min(due, now + self._planned(kind, lease, lease.holdings[0].assignment))

    def _planned(self, kind: OperationKind, lease: Lease, assignment: tuple[int, ...]) -> int:
        """Return the seconds that an operation takes by the model."""
        model, request = self._planner.unbuffered, lease.request
        if kind is OperationKind.SUSPEND:
            return model.suspend_time(request, assignment)
        if kind is OperationKind.RESUME:
            return model.resume_time(request, assignment)
        return model.shutdown_time(request) if kind is OperationKind.STOP else 0

    def buffer(self, kind: OperationKind) -> int:
        """Return the seconds beyond the model that suffice for most operations of a kind; 0 if none was observed."""
        seconds = sorted(self._seconds[kind])
        if not seconds or self._quantile is None:
            return 0
        return seconds[max(0, ceil(self._quantile * len(seconds)) - 1)]

    def _buffers(self) -> tuple[int, ...]:
        return tuple(self.buffer(kind) for kind in _KINDS)

    def _apply(self) -> None:
        options = self._planner.options
        # Nodes that are booted ahead of their start need hosts that earlier leases have left by then.
        suspend = self.buffer(OperationKind.SUSPEND) + self.buffer(OperationKind.START)
        self._planner.leave_time(
            replace(
                options,
                suspend_buffer=max(options.suspend_buffer, suspend),
                resume_buffer=max(options.resume_buffer, self.buffer(OperationKind.RESUME)),
                shutdown_time=options.shutdown_time + self.buffer(OperationKind.STOP),
            )
        )

    def take_changes(self) -> dict[str, list[int]]:
        """Return the remembered seconds, by kind, of kinds that were observed since the last call.

        The caller stores them.
        """
        changed, self._changed = self._changed, set()
        return {kind.value: list(self._seconds[kind]) for kind in sorted(changed, key=lambda kind: kind.value)}

    def restore(self, kept: Mapping[str, Sequence[int]]) -> None:
        """Load stored seconds, by kind, before anything is planned."""
        if self._quantile is None:
            return
        for kind in _KINDS:
            self._seconds[kind].extend(kept.get(kind.value, ()))
        self._apply()
