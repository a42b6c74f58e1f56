"""The interface of steps."""

from __future__ import annotations

from typing import Protocol

from lease_scheduler.cloud.orders import AnyOrder, Order


class Step(Protocol):
    """A step of an operation. It may be repeated, even by another process, and each call does its next part."""

    def perform(self, order: Order, /) -> bool:
        """Do the next part. Return whether the step is done.

        :raises StepFailedError: it cannot succeed on these hosts
        """
        ...


class ClearingStep(Protocol):
    """A step that removals have, too. For a removal, it knows only what the cloud says of the lease."""

    def perform(self, order: AnyOrder, /) -> bool:
        """Do the next part. Return whether the step is done."""
        ...
