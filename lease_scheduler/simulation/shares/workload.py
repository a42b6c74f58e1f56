"""The requests of a study of shares as best-effort leases, so that the whole engine can run them."""

from __future__ import annotations

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.simulation.shares.result import SharesResult
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_HOST = Resources({VCPU: 100})


def as_workload(result: SharesResult, tick_seconds: int = 1) -> Workload:
    """Return all requests that the study has queued, on a site of as many hosts.

    :param tick_seconds: seconds of a tick
    """
    asked = sorted((each.number, each, flow.name) for flow in result.flows for each in flow.asked)
    # Leases of one width share their nodes: there may be hundreds of thousands.
    nodes = {each.width: (NodeSet(each.width, _HOST),) for _, each, _ in asked}
    leases = [
        WorkloadLease(
            LeaseRequest(
                str(number),
                LeaseKind.BEST_EFFORT,
                nodes[each.width],
                each.arrived * tick_seconds,
                each.duration * tick_seconds,
                user=name,
            )
        )
        for number, each, name in asked
    ]
    return Workload("shares", tuple(leases), Site.homogeneous(result.hosts, _HOST))
