"""How much longer operations take than planned, and how much time they are therefore left (haizea F95, 7.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.planner import Planner

#: Operations of a kind that are remembered, so that a cloud that has become faster is believed after a while.
_REMEMBERED = 100

_KINDS = (OperationKind.SUSPEND, OperationKind.RESUME, OperationKind.START, OperationKind.STOP)


class Lateness:
    """Watches operations, and has the planner leave them the time that most of them really took.

    A start is watched from the command on, as nothing is planned for it; other operations from when they should have
    been over by the model, without any buffer.

    :param planner: is told
    :param quantile: share of the operations that are to be over in time; none to watch nothing
    """

    def __init__(self, planner: Planner, quantile: float | None) -> None:
        self._planner = planner
        self._quantile = quantile
        self._seconds = {kind: deque[int](maxlen=_REMEMBERED) for kind in _KINDS}
        self._changed: set[OperationKind] = set()

    def completed(self, operation: Operation, lease: Lease, now: int) -> bool:
        """An operation on the VMs of a lease is over.

        :return: whether others are left more time now, or less
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
        """When an operation that begins now should be over by the model.

        :param due: when it is over according to the plan, buffers included
        """
        if self._quantile is None or kind not in (OperationKind.RESUME, OperationKind.STOP):
            return due
        return min(due, now + self._planned(kind, lease, lease.holdings[0].assignment))

    def _planned(self, kind: OperationKind, lease: Lease, assignment: tuple[int, ...]) -> int:
        """Seconds that an operation takes by the model."""
        model, request = self._planner.unbuffered, lease.request
        if kind is OperationKind.SUSPEND:
            return model.suspend_time(request, assignment)
        if kind is OperationKind.RESUME:
            return model.resume_time(request, assignment)
        return model.shutdown_time(request) if kind is OperationKind.STOP else 0

    def buffer(self, kind: OperationKind) -> int:
        """Seconds that most operations of a kind took beyond what is planned; 0 if none is known."""
        seconds = sorted(self._seconds[kind])
        if not seconds or self._quantile is None:
            return 0
        return seconds[max(0, ceil(self._quantile * len(seconds)) - 1)]

    def _buffers(self) -> tuple[int, ...]:
        return tuple(self.buffer(kind) for kind in _KINDS)

    def _apply(self) -> None:
        options = self._planner.options
        # Hosts on which VMs are booted ahead must have been left by then.
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
        """What has been seen since the last call, to be kept: seconds of the last operations of each kind, by name."""
        changed, self._changed = self._changed, set()
        return {kind.value: list(self._seconds[kind]) for kind in sorted(changed, key=lambda kind: kind.value)}

    def restore(self, kept: Mapping[str, Sequence[int]]) -> None:
        """Go on with what was kept, before anything is planned."""
        if self._quantile is None:
            return
        for kind in _KINDS:
            self._seconds[kind].extend(kept.get(kind.value, ()))
        self._apply()
