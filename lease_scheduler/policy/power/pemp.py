"""Hosts wake and sleep according to waiting times and load."""

from __future__ import annotations

from math import ceil, floor

from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage
from lease_scheduler.policy.power.fuzzy import FuzzyTables, infer
from lease_scheduler.policy.power.options import fuzzy_tables, waiting_factor

#: Output above which as many hosts are emptied as a request has nodes.
_EMPTY_ALL = 2.0


class Pemp(PowerPolicy):
    """Preemption-based energy management policy (Amini Salehi 2012, algorithm 5).

    Fuzzy inference weighs the risk that leases wait too long against the load of the hosts that are awake: the higher
    the risk, the more of the hosts that a request lacks wake, and the fewer best-effort leases are preempted for it.
    With a low risk, hosts are emptied instead, so that they can sleep.

    Options: ``power_waiting_factor`` (5), as for ``sesp``; ``power_risk_peaks``, ``power_load_peaks`` and
    ``power_centres``, the tables of the inference. The publication shows them only in a figure, so the defaults are not
    its own.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._factor = waiting_factor(options)
        self._tables: FuzzyTables = fuzzy_tables(options)

    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Divide what is missing between waking and preemption."""
        return self._decision(shortage.missing, view)

    def for_queue(self, view: PowerView) -> PowerDecision:
        """Do the same for the lease that has waited longest."""
        first = view.longest_waiting
        return PowerDecision() if first is None else self._decision(first.nodes, view)

    def _decision(self, nodes: int, view: PowerView) -> PowerDecision:
        output = infer(self._tables, view.risk(self._factor), view.load)
        if output <= 0.0:
            return PowerDecision(wake=nodes)
        if output <= 1.0:
            return PowerDecision(wake=ceil(_exact(nodes * (1.0 - output))))
        return PowerDecision(empty=nodes if output > _EMPTY_ALL else floor(_exact(nodes * (output - 1.0))))


def _exact(value: float) -> float:
    """Return a number of hosts without the errors of binary fractions, which would count as a whole host."""
    return round(value, 9)
