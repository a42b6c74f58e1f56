"""The base class of fractional policies (Stillwell 2010, sections 5.2.1 to 5.2.5)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, eq=False)
class FluidLeases:
    """Fluid leases that run or wait, in the order of submission; arrays by lease unless said otherwise.

    CPU and memory are parts of the largest host. A lease has identical nodes; those of lease number k are from
    ``first[k]`` to ``first[k + 1]`` (excluded).

    :ivar cpu: CPU need of each node
    :ivar memory: what each node holds of memory, or of the resource of which it holds most
    :ivar first: number of the first node of each lease, and at the end the number of all nodes
    :ivar release: when the lease was submitted, in seconds
    :ivar virtual: virtual time in seconds
    :ivar hosts: host of each node of leases that run, sorted for each lease; by node
    :ivar is_running: whether the lease runs
    :ivar stays: whether it cannot move while it runs
    :ivar others_load: what others than these leases hold of the CPU of each host, at most 1
    :ivar others_held: what they hold of its memory, at most 1
    """

    cpu: Floats
    memory: Floats
    first: Integers
    release: Floats
    virtual: Floats
    hosts: Integers
    is_running: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    others_load: Floats
    others_held: Floats


class Occasion(NamedTuple):
    """Why a decision is made.

    :ivar now: the present instant
    :ivar submitted: how many leases are new; they are the last ones
    :ivar has_ended: whether leases have ended, or other leases have freed capacity on a host
    :ivar is_period: whether a period is over
    """

    now: int
    submitted: int
    has_ended: bool
    is_period: bool


class FractionalPolicy(Policy):
    """Decides how fluid leases share the CPU that is left and, if it places them, where they run.

    It knows of leases only what it is given, so an engine that takes over decides as the one before it would.

    :param options: what the operator set for policies
    :ivar shares: whether there are fluid leases at all; if not, they are refused
    :ivar places: whether it decides where fluid leases run; if not, the planner does
    :ivar period: seconds between decisions that it makes without another reason; None if it makes none
    :ivar horizon: for how many seconds hosts must have what they offer to fluid leases that it places
    """

    shares = True
    places = False
    period: int | None = None
    horizon = 600

    @abstractmethod
    def scaled_yields(self, nodes: FluidNodes) -> Floats:
        """Return for each lease which part, from 0 to 1, it gets of what its nodes need beyond what they hold."""

    def hosts(self, leases: FluidLeases, occasion: Occasion) -> list[list[int] | None]:
        """Return the sorted hosts on which the nodes of each lease run from now on, or None if it does not run."""
        raise NotImplementedError(f"{type(self).__name__} does not decide where leases run")
