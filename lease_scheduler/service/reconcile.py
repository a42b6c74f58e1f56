"""Leases and cloud compared, and brought to agree (architecture, "truth, crashes, several engines")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.cloud.driver import Footprint
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Operation, OperationKind
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.service.unit_of_work import UnitOfWork


def reconcile(
    engine: Engine,
    work: UnitOfWork,
    before: Mapping[str, Lease],
    footprints: Iterable[Footprint],
    is_busy: Callable[[str], bool],
) -> dict[str, int]:
    """Destroy what no lease explains, treat servers that are gone as work that is over, and give leases their hosts.

    Leases for which something is being done, or that changed while the cloud was looked at, are left alone: what was
    seen of them need not be what exists now.

    :param before: the live leases before the cloud was looked at
    :param footprints: what exists in the cloud, looked at before the present transaction
    :return: ``destroyed``, ``gone`` and ``moved``
    """
    busy = {intent.lease_id for intent in work.open_intents()}
    found = {footprint.lease_id: footprint for footprint in footprints}
    destroyed = gone = moved = 0
    for lease_id in found:
        if lease_id in busy or is_busy(lease_id):
            continue
        lease = engine.lease(lease_id)
        if lease is not before.get(lease_id):
            continue
        if lease is None or (lease.active_since is None and lease.state not in _MAY_EXIST):
            work.discard(lease_id, work.now)
            destroyed += 1
    for lease in engine.live_leases():
        if lease.lease_id in busy or is_busy(lease.lease_id) or lease is not before.get(lease.lease_id):
            continue
        footprint = found.get(lease.lease_id)
        if lease.state is LeaseState.ACTIVE and (footprint is None or footprint.servers == "none"):
            work.report(None, CloudEvent(EventKind.ENDED, work.now, lease.lease_id, reason="its servers are gone"))
            gone += 1
        elif lease.active_since is not None and not _has_its_hosts(lease, found[lease.lease_id], engine.site):
            assignment = lease.reservations[0].assignment
            work.begin(Operation(OperationKind.ADJUST, lease.lease_id, assignment, work.now, work.now))
            moved += 1
        elif lease.state in SUSPENDED_STATES and (footprint is None or footprint.servers == "none"):
            work.report(None, CloudEvent(EventKind.LOST, work.now, lease.lease_id, reason="its saved state is gone"))
            gone += 1
    return {"destroyed": destroyed, "gone": gone, "moved": moved}


def _has_its_hosts(lease: Lease, footprint: Footprint, site: Site) -> bool:
    addresses = {host.name for host in site.hosts if FLOATING_IP in host.capacity}
    return footprint.hosts - addresses == compute_hosts(lease, site)


def compute_hosts(lease: Lease, site: Site) -> frozenset[str]:
    """Names of the compute hosts that a lease has; addresses are none."""
    hosts = (site.hosts[number] for number in lease.reservations[0].assignment)
    return frozenset(host.name for host in hosts if FLOATING_IP not in host.capacity)


#: Something of a lease in these states may exist although it does not run.
_MAY_EXIST = SUSPENDED_STATES | {
    LeaseState.SUSPENDING,
    LeaseState.RESUMING,
    LeaseState.RESUMED_READY,
    LeaseState.READY,
    LeaseState.ACTIVE,
}
