"""Default fractional policy: no lease is fluid."""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.policy.fractional.base import FluidNodes, FractionalPolicy


class NoFractional(FractionalPolicy):
    """Shares nothing. Requests for fluid leases are refused; those of an earlier policy keep what they hold."""

    shares = False

    def scaled_yields(self, nodes: FluidNodes) -> Floats:
        """See ``FractionalPolicy.scaled_yields``."""
        return np.zeros(nodes.count)
