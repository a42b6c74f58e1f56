"""The steps of operations, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.cloud.nova.steps.base import ClearingStep, Step
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.engine.interfaces import OperationKind

STEPS = {
    OperationKind.START: ("aggregate", "vacate", "enter", "hold", "addresses", "lend", "boot", "open"),
    OperationKind.RESUME: (
        "move-off",
        "aggregate",
        "vacate",
        "enter",
        "hold",
        "addresses",
        "lend",
        "open",
        "bring-back",
    ),
    OperationKind.SUSPEND: ("close", "put-away", "leave", "release"),
    # Servers that are set apart stay until their images are complete. The removal, which follows, deletes them.
    OperationKind.STOP: ("close", "keep", "set-apart", "snapshot", "delete-servers", "leave", "release", "remove"),
    # Shelved servers are in the image store, which all hosts can read.
    OperationKind.MIGRATE: (),
    OperationKind.SNAPSHOT: ("image",),
    # Hosts are vacated twice: before they come into the aggregates, so that the lease gets no host that is not
    # available, and afterwards, because servers may have come in between.
    OperationKind.ADJUST: ("vacate", "join", "vacate", "enter", "hold", "lend", "open", "follow", "aggregate", "boot"),
}
REMOVAL = ("close", "set-apart", "snapshot", "delete-servers", "leave", "release", "save", "remove")

#: Steps that wait only for servers. Nova notifies when these are ready.
ANNOUNCED = frozenset({"boot", "put-away", "bring-back"})


def names_of(order: AnyOrder) -> tuple[str, ...]:
    """Return the names of the steps of an order."""
    return REMOVAL if isinstance(order, Removal) else STEPS[order.operation.kind]


class OperationSteps:
    """All steps, by name.

    :param clearing: the steps of ``REMOVAL``; operations have them, too
    :param others: the steps that only operations have
    """

    def __init__(self, clearing: Mapping[str, ClearingStep], others: Mapping[str, Step]) -> None:
        self._clearing = clearing
        self._all: Mapping[str, Step] = {**clearing, **others}

    def perform(self, order: AnyOrder, name: str) -> bool:
        """Do a step. Return whether it is done.

        :raises StepFailedError: it cannot succeed on these hosts
        """
        if isinstance(order, Removal):
            return self._clearing[name].perform(order)
        return self._all[name].perform(order)
