"""The base class of fractional policies (Stillwell 2010, section 5.2.5)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.policy.base import Policy


@dataclass(frozen=True, eq=False)
class FluidNodes:
    """The nodes of all running fluid leases; arrays by node.

    :ivar free: VCPU that each host has left, beyond what its leases hold
    :ivar hosts: host of each node
    :ivar leases: number of the lease of each node, from 0 on
    :ivar needs: VCPU that each node needs beyond those that it holds
    :ivar count: number of leases
    """

    free: Floats
    hosts: Integers
    leases: Integers
    needs: Floats
    count: int


class FractionalPolicy(Policy):
    """Decides how fluid leases share the CPU that is left.

    :param options: what the operator set for policies
    :ivar shares: whether there are fluid leases at all; if not, they are refused
    """

    shares = True

    @abstractmethod
    def scaled_yields(self, nodes: FluidNodes) -> Floats:
        """Return which part of what its nodes need beyond what they hold each lease gets, from 0 to 1."""
