"""``LeaseWeigher``: of the hosts that are possible, prefers those that leases need last."""

from __future__ import annotations

import time
from typing import Any

import nova.conf
from nova.scheduler import utils, weights

from lease_scheduler.nova import options
from lease_scheduler.nova.aggregates import read_host
from lease_scheduler.nova.boots import planned_host, read_boot
from lease_scheduler.nova.rules import free_for


class LeaseWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Servers without a lease go where the next one is farthest away, those of a managed lease where it is planned."""

    def __init__(self) -> None:
        super().__init__()
        group = options.register(nova.conf.CONF)
        self._freepool = group.freepool
        self._multiplier = group.weight_multiplier
        self._longest = group.weight_longest

    def weight_multiplier(self, host_state: Any) -> float:
        """How much the weight of a host counts among those of other weighers."""
        return float(utils.get_weight_multiplier(host_state, "lease_weight_multiplier", self._multiplier))

    def _weigh_object(self, host_state: Any, weight_properties: Any) -> float:
        """Seconds until the host's next lease; for servers of a lease 1 on the planned host, else 0."""
        if read_boot(weight_properties).leases:
            return float(planned_host(weight_properties) == host_state.host)
        found = read_host(host_state.aggregates, self._freepool)
        return float(free_for(found, int(time.time()), self._longest))
