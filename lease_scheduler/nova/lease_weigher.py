"""``LeaseWeigher``: of the hosts that are possible, prefers those that leases need last."""

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

#: More than all other weighers together can say.
_PLANNED = 1000.0


class LeaseWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Servers without a lease go where the next one is farthest away, those of a managed lease where it is planned."""

    # What lies outside is not normalised, so that the plan outweighs everything else.
    minval = 0.0
    maxval = 1.0

    def __init__(self) -> None:
        super().__init__()
        group = options.register(nova.conf.CONF)
        self._freepool = group.freepool
        self._multiplier = group.weight_multiplier
        self._longest = group.weight_longest

    def weight_multiplier(self, host_state: Any) -> float:
        """How much the weight of a host counts among those of other weighers."""
        return float(utils.get_weight_multiplier(host_state, "lease_weight_multiplier", self._multiplier))

    def weigh_objects(self, weighed_obj_list: Iterable[Any], weight_properties: Any) -> list[float]:
        """The weights of hosts, in their order. What is the same for all of them is read once."""
        return self._weights([each.obj for each in weighed_obj_list], weight_properties)

    def _weigh_object(self, host_state: Any, weight_properties: Any) -> float:
        return self._weights([host_state], weight_properties)[0]

    def _weights(self, hosts: Iterable[Any], spec: Any) -> list[float]:
        """How long each host is free, from 0 to 1; for servers of a lease whether it is the planned host."""
        if read_boot(spec).leases:
            planned = planned_host(spec)
            best = copysign(_PLANNED, self._multiplier)
            return [best if planned is not None and planned in (host.nodename, host.host) else 0.0 for host in hosts]
        reader, now = Reader(self._freepool), int(time.time())
        return [free_for(reader.read(host.aggregates, host.host), now, self._longest) / self._longest for host in hosts]
