"""Whether preemptible slots that are in use, and those of a request, can all be kept to their ends.

Pucher 2016, listing 5.1: until the i-th of them ends, demand that grows by one more than the spare slots would preempt
one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from lease_scheduler.prediction.bounds import check_probability


class Split(Enum):
    """How a probability of preemption is divided among the two things that may go wrong.

    * ``UNION``: nine tenths for growth that comes early, a tenth for durations that are long, so that the sum is kept.
    * ``PRODUCT``: the square root for each, as in the dissertation. That is unsound, as either of the two is enough.
    * ``GROWTH_ONLY``: all of it for the growth, for durations that are certain.
    """

    UNION = "union"
    PRODUCT = "product"
    GROWTH_ONLY = "growth-only"

    def shares(self, preemption: float) -> tuple[float, float]:
        """Return the probabilities for the growth and for the durations.

        :raises InvalidValueError: the probability is not between 0 and 1
        """
        check_probability("preemption", preemption)
        if self is Split.PRODUCT:
            return math.sqrt(preemption), math.sqrt(preemption)
        return (0.9 * preemption, 0.1 * preemption) if self is Split.UNION else (preemption, 0.0)


@dataclass(frozen=True, slots=True)
class Held:
    """Slots that are held together and released together.

    :ivar slots: how many
    :ivar seconds: until they are released
    """

    slots: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a request is not admitted.

    :ivar growth: growth of the demand, in slots, that may come too early; 0 if the request does not fit even now
    :ivar held_for: seconds until the next release
    :ivar grows_after: seconds after which the demand may have grown
    """

    growth: int
    held_for: float
    grows_after: float


def shortfall(
    capacity: int,
    regular: int,
    held: Sequence[Held],
    grows_after: Callable[[int], float],
    until: float = math.inf,
) -> Shortfall | None:
    """Return the first instant at which the demand may have grown too far, or None if the request can be admitted.

    :param capacity: slots of the cloud
    :param regular: slots in use that cannot be preempted
    :param held: preemptible slots in use and those of the request
    :param grows_after: for a growth in slots, the seconds after which it may happen
    :param until: seconds after which releases are ignored; the end of the request itself to protect only the request,
        infinite to protect all
    """
    remaining = sum(each.slots for each in held)
    if capacity - regular - remaining < 0:
        return Shortfall(0, 0.0, 0.0)
    for each in sorted(held, key=lambda each: each.seconds):
        if each.seconds > until:
            break
        growth = capacity - regular - remaining + 1
        after = grows_after(growth)
        if after < each.seconds:
            return Shortfall(growth, each.seconds, after)
        remaining -= each.slots
    return None
