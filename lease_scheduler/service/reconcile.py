"""Leases and cloud compared, and brought to agree (architecture, "truth, crashes, several engines")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.cloud.driver import Footprint
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import CloudEvent, EventKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.service.unit_of_work import UnitOfWork


def reconcile(
    engine: Engine,
    work: UnitOfWork,
    before: Mapping[str, Lease],
    footprints: Iterable[Footprint],
    is_busy: Callable[[str], bool],
) -> dict[str, int]:
    """Destroy what no lease explains, and treat servers that are gone as work that is over.

    Leases for which something is being done, or that changed while the cloud was looked at, are left alone: what was
    seen of them need not be what exists now.

    :param before: the live leases before the cloud was looked at
    :param footprints: what exists in the cloud, looked at before the present transaction
    :return: ``destroyed`` and ``gone``
    """
    busy = {intent.lease_id for intent in work.open_intents()}
    found = {footprint.lease_id: footprint for footprint in footprints}
    destroyed = gone = 0
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
        elif lease.state in SUSPENDED_STATES and (footprint is None or footprint.servers == "none"):
            work.report(None, CloudEvent(EventKind.LOST, work.now, lease.lease_id, reason="its saved state is gone"))
            gone += 1
    return {"destroyed": destroyed, "gone": gone}


#: Something of a lease in these states may exist although it does not run.
_MAY_EXIST = SUSPENDED_STATES | {
    LeaseState.SUSPENDING,
    LeaseState.RESUMING,
    LeaseState.RESUMED_READY,
    LeaseState.READY,
    LeaseState.ACTIVE,
}
