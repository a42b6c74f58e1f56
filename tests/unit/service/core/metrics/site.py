"""A site to observe."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.prediction.coverage import Covered
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.service.core.metrics.state import Observation

NOW = 1_000
_CAPACITY = {"VCPU": 8}


def _host(number: int, *, reservable: bool = True, out_until: int | None = None) -> HostRecord:
    return HostRecord(number, f"compute-{number}", 8, 1024, 0, 0, _CAPACITY, reservable=reservable, out_until=out_until)


def _lease(name: str, number: int, state: LeaseState, need: dict[str, int], start: int | None) -> Lease:
    request = LeaseRequest(name, LeaseKind.BEST_EFFORT, (NodeSet(1, Resources(need)),), 0, 500)
    held = () if start is None else (Holding((1,), start, start, start + 500, start + 510),)
    since = start if state is LeaseState.ACTIVE else None
    return Lease(request, number, state, holdings=held, active_since=since)


def observation() -> Observation:
    """Return an observation: two vCPUs run, a whole host is being suspended, one lease is planned and one is queued.

    The one that runs is fluid, and has got half of its VCPU.
    """
    leases = (
        replace(_lease("runs", 1, LeaseState.ACTIVE, {"VCPU": 2}, 900), progress=Progress(0, 500, 900)),
        _lease("goes", 2, LeaseState.SUSPENDING, {"VCPU": 1, HOST_SHARE: WHOLE_HOST}, 600),
        _lease("later", 3, LeaseState.SCHEDULED, {"VCPU": 4}, 2_000),
        _lease("waits", 4, LeaseState.QUEUED, {"VCPU": 4}, None),
    )
    site = Site(tuple(Host(f"compute-{n}", Resources({**_CAPACITY, HOST_SHARE: WHOLE_HOST})) for n in range(4)))
    return Observation(
        now=NOW,
        leases=leases,
        documents={lease.lease_id: LeaseDocument(lease.lease_id, lease.lease_id, "red", "ada", 0) for lease in leases},
        orders=(
            Intent(1, "goes", Operation(OperationKind.SUSPEND, "goes", (1,), 940, 1_100)),
            Intent(2, "over", None),
        ),
        hosts=(_host(1), _host(2), _host(3, out_until=5_000), _host(4, reservable=False)),
        floating_ips=(FloatingIpRecord("ip", "net", "10.0.0.1", 0),),
        site=site,
        pools=(None,),
        price_rates={None: 1.5},
        forecasts={None: {"start": Covered(0.95, 0.97, 30, 400), "demand": Covered(None, None, 0, None)}},
    )
