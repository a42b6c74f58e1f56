"""A probe: how many nodes are suspended, over time and at most."""

from lease_scheduler.model.states import SUSPENDED_STATES
from lease_scheduler.simulation.accounting import Average
from lease_scheduler.simulation.probes.base import Probe


class SuspendedProbe(Probe):
    def __init__(self, accounting):
        super().__init__(accounting)
        self.counter = accounting.create_counter("Suspended nodes", Average.TIME_WEIGHTED)

    def at_step(self, plan, now):
        suspended = [lease for lease in plan.leases.values() if lease.state in SUSPENDED_STATES]
        self.counter.put(now, sum(lease.request.node_count for lease in suspended))

    def at_end(self, lease, now):
        waited = now - lease.request.submitted - lease.accumulated
        self.accounting.set_lease(lease.lease_id, {"Time without running": waited})

    def finish(self, result):
        most = max((entry.value for entry in self.counter.entries), default=0)
        self.accounting.set_run({"Most suspended nodes": most})
