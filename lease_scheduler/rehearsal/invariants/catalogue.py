"""All invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lease_scheduler.rehearsal.invariants import capacity, clouds, promises, telling
from lease_scheduler.rehearsal.invariants.facts import Facts, Violation

#: They are looked at in this order.
INVARIANTS: tuple[Callable[[Facts], Iterator[Violation]], ...] = (
    promises.lost,
    promises.doubled,
    promises.revived,
    promises.illegal,
    promises.forgotten,
    promises.held,
    promises.stuck,
    capacity.oversold,
    capacity.overfull,
    clouds.trespassed,
    clouds.left,
    clouds.missing,
    telling.untold,
    telling.waiting,
)


def first_broken(facts: Facts) -> Violation | None:
    """Return the first violation, or None if everything holds."""
    return next((found for invariant in INVARIANTS for found in invariant(facts)), None)
