"""Choices among 50 members of a federation, with each allocation policy."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.counted_work.calls import calls_of
from benchmarks.routing import ALLOCATIONS, deciding

_CHOICES = 20


def count(members: int = 50) -> dict[str, int]:
    """Count the calls of some choices with each allocation policy, once it is loaded.

    :param members: number of members
    """
    return {f"calls, federation, {allocation}": _calls(deciding(allocation, members)) for allocation in ALLOCATIONS}


def _calls(decide: Callable[[], str]) -> int:
    return calls_of(lambda: [decide() for _ in range(_CHOICES)])["calls, federation"]
