"""Hosts that are taken as a whole for a time, though no lease holds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lease_scheduler.plan.availability import Availability


def taken(availability: Availability, intervals: Sequence[tuple[int, int, int]], *, sign: int = 1) -> Availability:
    """Return an availability in which nothing is free on some hosts in an interval each.

    :param intervals: host number, first instant at which it is taken, and first one at which it can be used; ascending
    :param sign: -1 to take this back
    """
    if not intervals:
        return availability
    hosts, starts, ends = np.array(intervals, dtype=np.int64).T
    amounts = np.zeros((availability.capacity.shape[0] + 1, len(hosts)), dtype=np.int64)
    amounts[:-1] = availability.capacity[:, hosts] * sign
    return availability.changed(hosts, starts, ends, amounts)
