"""Swarm testing: each seed uses only some of what is possible, so that rare combinations become frequent.

Groce, Zhang, Eide, Chen and Regehr, "Swarm testing", ISSTA 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from lease_scheduler.random_streams import random_stream

#: Share of what is possible that a seed uses on average.
_SHARE = 0.5


#: Factors by which a seed may make pauses between faults of one kind shorter. Most worlds are much shorter than a day.
_PACES = (1.0, 0.5, 0.25, 0.125)


def stream(seed: int, purpose: str) -> Random:
    """Return the random numbers of one actor or fault, which no other one draws from.

    :param seed: at least 0
    """
    return Random(int(random_stream(seed, purpose).integers(2**62)))


def chosen(seed: int, purpose: str, names: Sequence[str], share: float = _SHARE) -> tuple[str, ...]:
    """Return the names that a seed uses, in their order.

    :param share: probability of each name
    """
    random = stream(seed, f"swarm {purpose}")
    drawn = [(name, random.random() < share) for name in names]
    return tuple(name for name, is_used in drawn if is_used)


def pace(seed: int) -> float:
    """Return the factor by which a seed makes pauses between faults shorter: 1 or less."""
    return stream(seed, "pace").choice(_PACES)
