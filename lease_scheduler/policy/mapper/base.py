"""The interface of mapper policies (haizea F30; Sotomayor 2010, section 4.2.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lease_scheduler.plan.availability import IntArray
from lease_scheduler.policy.base import PolicyOptions


class MapperPolicy(ABC):
    """Distributes the VMs of a lease over the hosts that can take some.

    :param options: what the operator set for policies
    """

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options

    @abstractmethod
    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """How many VMs each host gets.

        :param places: how many VMs each host can take, in the order of the host selection policy, each at least 1;
            there are at least ``count`` in all
        :param present: how many VMs of the same lease each of these hosts has already, same shape
        :param count: how many VMs there are
        :return: numbers for the first hosts, at most ``places`` and ``count`` in all; hosts beyond its end get none
        """
