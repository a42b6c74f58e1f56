"""The base class of mapper policies (haizea F30; Sotomayor 2010, section 4.2.3)."""

from __future__ import annotations

from lease_scheduler.plan.interfaces import Mapper
from lease_scheduler.policy.base import Policy


class MapperPolicy(Policy, Mapper):
    """Distributes the nodes of a lease over hosts; the method to write is ``Mapper.distribute``.

    :param options: what the operator set for policies
    """
