"""The base class of host selection policies (haizea F38; Sotomayor 2010, section 4.3.4)."""

from __future__ import annotations

from lease_scheduler.plan.interfaces import HostSelection
from lease_scheduler.policy.base import Policy


class HostSelectionPolicy(Policy, HostSelection):
    """Ranks the hosts that could hold a lease; the method to write is ``HostSelection.rank``.

    :param options: what the operator set for policies
    """
