"""All invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lease_scheduler.rehearsal.invariants import answers, capacity, clouds, lateness, promises, telling
from lease_scheduler.rehearsal.invariants.facts import Facts, Violation

Invariant = Callable[[Facts], Iterator[Violation]]

#: Those of the cloud that may be broken for some seconds only.
OFTEN: Sequence[Invariant] = (
    capacity.overfull,
    clouds.intruded,
    clouds.unfiltered,
    clouds.misplaced,
)

#: All of them, in the order in which they are looked at.
INVARIANTS: Sequence[Invariant] = (
    promises.lost,
    promises.doubled,
    promises.revived,
    promises.illegal,
    promises.forgotten,
    promises.held,
    promises.stuck,
    promises.compensated,
    answers.bad,
    lateness.late_starts,
    lateness.late_ends,
    lateness.failed,
    capacity.oversold,
    *OFTEN,
    clouds.trespassed,
    clouds.left,
    clouds.missing,
    clouds.unheld,
    clouds.unusable,
    telling.untold,
    telling.waiting,
)


def first_broken(facts: Facts, invariants: Sequence[Invariant] = INVARIANTS) -> Violation | None:
    """Return the first violation, or None if everything holds."""
    return next((found for invariant in invariants for found in invariant(facts)), None)
