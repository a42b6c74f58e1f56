"""The smallest rehearsal that still breaks the same invariant: everything is left out that can be.

Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions on Software Engineering
28(2), 2002; here each part is tried alone, as there are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lease_scheduler.cmd.rehearsing.casting import Cast

#: Simulated seconds by which a world outlasts the violation.
_REST = 1.0

_PARTS = ("faults", "fates", "acts", "verbs")


@dataclass(frozen=True)
class Case:
    """A rehearsal that breaks an invariant.

    :ivar seconds: simulated seconds that it takes
    :ivar calm: simulated seconds after which nothing new goes wrong
    """

    hosts: int
    tenants: int
    seconds: float
    calm: float
    cast: Cast


def shrunk(case: Case, breaks: Callable[[Case], float | None]) -> Case:
    """Return the smallest case that still breaks the invariant.

    :param breaks: runs a case; returns the simulated seconds after which the invariant was broken, or None
    """
    while True:
        for smaller in _smaller(case):
            seconds = breaks(smaller)
            if seconds is not None:
                case = replace(smaller, seconds=min(smaller.seconds, seconds + _REST))
                break
        else:
            return case


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases with less in them, those first that leave out most."""
    for part in _PARTS:
        names = getattr(case.cast, part) or ()
        if len(names) > 1:
            for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                yield _with(case, part, half)
    for part in _PARTS:
        names = getattr(case.cast, part) or ()
        for left_out in names:
            yield _with(case, part, tuple(each for each in names if each != left_out))
    for tenants in sorted({1, case.tenants // 2, case.tenants - 1}):
        if 0 < tenants < case.tenants:
            yield replace(case, tenants=tenants)
    for hosts in sorted({1, case.hosts // 2, case.hosts - 1}):
        if 0 < hosts < case.hosts:
            yield replace(case, hosts=hosts)
    if case.calm < case.seconds and case.calm > 60.0:
        yield replace(case, calm=float(int(case.calm / 2)))


def _with(case: Case, part: str, names: tuple[str, ...]) -> Case:
    return replace(case, cast=replace(case.cast, **{part: names}))
