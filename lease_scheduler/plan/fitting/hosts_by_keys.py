"""Host selection by keys: policies that sort hosts by keys, each of which follows from its host alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt, HostSelection

SortKey = IntArray | npt.NDArray[np.float64]


class HostsByKeys(HostSelection):
    """Sorts hosts by keys. The method to write is ``keys``.

    Many leases of one kind that start at one instant are placed at once with such a policy, because the place of a
    host in the order does not depend on the other hosts. A class that overrides ``rank`` sorts by something else,
    unless it sets ``sorts_by_keys`` itself.
    """

    sorts_by_keys = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note whether the class still sorts by its keys."""
        super().__init_subclass__(**kwargs)
        if "rank" in cls.__dict__ and "sorts_by_keys" not in cls.__dict__:
            cls.sorts_by_keys = False

    @abstractmethod
    def keys(self, hosts: HostsAt, lease: LeaseRequest) -> tuple[SortKey, ...]:
        """Return what hosts are sorted by, the most important key first; each of shape (hosts,), smallest value first.

        The key of a host follows from its own values of ``leases``, ``free`` and ``unchanged``. Of the lease, only the
        duration and what one node needs may matter. Equal hosts are in the order of their numbers.
        """
        ...

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        return hosts.numbers[by_keys(self.keys(hosts, lease))]


def by_keys(keys: tuple[SortKey, ...]) -> IntArray:
    """Return the positions of hosts in the order of their keys."""
    order: IntArray = np.lexsort(keys[::-1])
    return order
