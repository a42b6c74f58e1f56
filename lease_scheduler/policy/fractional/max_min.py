"""Fair shares: the lowest yields are as high as they can be."""

from __future__ import annotations

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.online.fluid import fair_scaled_yields
from lease_scheduler.policy.fractional.base import FluidNodes, FractionalPolicy


class MaxMin(FractionalPolicy):
    """Shares CPU fairly in the sense of max-min: OPT=MIN (Stillwell 2010, section 5.2.5), by scaled yields (4.1)."""

    def scaled_yields(self, nodes: FluidNodes) -> Floats:
        """See ``FractionalPolicy.scaled_yields``."""
        return fair_scaled_yields(nodes.free, nodes.hosts, nodes.leases, nodes.needs, nodes.count)
