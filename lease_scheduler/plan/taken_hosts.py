"""Hosts that are taken as a whole for a time, though no lease holds them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lease_scheduler.plan.availability import Availability


def taken(availability: Availability, until: Mapping[int, int], now: int, *, sign: int = 1) -> Availability:
    """Return an availability in which nothing is free on some hosts from now on until an instant each.

    :param until: host number -> first instant at which it can be used
    :param sign: -1 to take this back
    """
    if not until:
        return availability
    hosts = np.array(sorted(until), dtype=np.int64)
    ends = np.array([until[host] for host in hosts.tolist()], dtype=np.int64)
    amounts = np.zeros((availability.capacity.shape[0] + 1, len(hosts)), dtype=np.int64)
    amounts[:-1] = availability.capacity[:, hosts] * sign
    return availability.changed(hosts, np.full(len(hosts), now, dtype=np.int64), ends, amounts)
