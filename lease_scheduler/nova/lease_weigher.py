"""``LeaseWeigher``: prefers, among the possible hosts, those that leases need last."""

from __future__ import annotations

import time
from collections.abc import Iterable
from math import copysign
from typing import Any

import nova.conf
from nova.scheduler import utils, weights

from lease_scheduler.nova import options
from lease_scheduler.nova.aggregates import Reader
from lease_scheduler.nova.boots import planned_host, read_boot
from lease_scheduler.nova.rules import free_for

#: Weight of the planned host. It outweighs all other weighers together.
_PLANNED = 1000.0


class LeaseWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Sends servers of a managed lease to their planned hosts, and others where the next lease is farthest away."""

    # Nova normalises only weights within these bounds, so the planned host keeps its own.
    minval = 0.0
    maxval = 1.0

    def __init__(self) -> None:
        super().__init__()
        group = options.register(nova.conf.CONF)
        self._freepool = group.freepool
        self._multiplier = group.weight_multiplier
        self._longest = group.weight_longest

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how much the weight of a host counts beside those of other weighers."""
        return float(utils.get_weight_multiplier(host_state, "lease_weight_multiplier", self._multiplier))

    def weigh_objects(self, weighed_obj_list: Iterable[Any], weight_properties: Any) -> list[float]:
        """Return the weights of hosts, in their order. What they have in common is read once."""
        return self._weights([each.obj for each in weighed_obj_list], weight_properties)

    def _weigh_object(self, host_state: Any, weight_properties: Any) -> float:
        return self._weights([host_state], weight_properties)[0]

    def _weights(self, hosts: Iterable[Any], spec: Any) -> list[float]:
        """Return how long each host is free, from 0 to 1. For servers of a lease only the planned host has a weight."""
        if read_boot(spec).leases:
            planned = planned_host(spec)
            best = copysign(_PLANNED, self._multiplier)
            return [best if planned is not None and planned in (host.nodename, host.host) else 0.0 for host in hosts]
        reader, now = Reader(self._freepool), int(time.time())
        return [free_for(reader.read(host.aggregates, host.host), now, self._longest) / self._longest for host in hosts]
