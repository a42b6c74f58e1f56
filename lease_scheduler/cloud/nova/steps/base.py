"""What a step is."""

from __future__ import annotations

from typing import Protocol

from lease_scheduler.cloud.orders import AnyOrder, Order


class Step(Protocol):
    """A step of an operation. It may be repeated, also by another process, and does what comes next each time."""

    def perform(self, order: Order, /) -> bool:
        """Do what comes next. Return whether the step is done.

        :raises StepFailedError: it cannot be done there
        """
        ...


class ClearingStep(Protocol):
    """A step that a removal has, too. Of a lease that is removed, only what the cloud has may be known."""

    def perform(self, order: AnyOrder, /) -> bool:
        """Do what comes next. Return whether the step is done."""
        ...
