"""Hosts that are taken as a whole for a time, though no lease holds them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lease_scheduler.plan.availability import Availability


def taken(
    availability: Availability, since: Mapping[int, int], until: Mapping[int, int], *, sign: int = 1
) -> Availability:
    """Return an availability in which nothing is free on some hosts in an interval each.

    :param since: host number -> first instant at which it is taken; a host that is not in both is not taken
    :param until: host number -> first instant at which it can be used
    :param sign: -1 to take this back
    """
    in_order = sorted(since.keys() & until.keys())
    if not in_order:
        return availability
    hosts = np.array(in_order, dtype=np.int64)
    starts = np.array([since[host] for host in in_order], dtype=np.int64)
    ends = np.array([until[host] for host in in_order], dtype=np.int64)
    amounts = np.zeros((availability.capacity.shape[0] + 1, len(hosts)), dtype=np.int64)
    amounts[:-1] = availability.capacity[:, hosts] * sign
    return availability.changed(hosts, starts, ends, amounts)
