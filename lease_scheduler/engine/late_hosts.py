"""Hosts that leases should have left, but have not, because an operation is late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease

#: Operations after which a lease has left its hosts. Leases that follow there wait for their end.
LEAVING = frozenset({OperationKind.SUSPEND, OperationKind.STOP})


@contextmanager
def late_hosts_held(state: EngineState, now: int) -> Iterator[None]:
    """Treat, within the block, hosts of late operations as held.

    Late operations are handled only after all reports of the cloud, so until then the plan shows their hosts as free. A
    lease that is only planned there can still be moved, but a running lease that moved there could not.
    """
    held = []
    for operation in state.runs.operations():
        lease = state.lease(operation.lease_id)
        if lease is None or operation.kind not in LEAVING or lease.holdings[0].end > now:
            continue
        longer = replace(lease.holdings[0], end=now + 1)
        held.append((lease, state.put(replace(lease, holdings=(longer, *lease.holdings[1:])))))
    try:
        yield
    finally:
        for lease, longer_held in held:
            if state.lease(lease.lease_id) is longer_held:
                state.put(lease)


def should_wait(state: EngineState, lease: Lease, until: int) -> bool:
    """Return whether a lease that has not started should wait for its hosts until a late operation is over, or move.

    Nothing is prepared on other hosts, and there may be servers that have to leave them first, so a start there takes
    up to the preparation time. How late the operation will be is unknown. A lease that waits in all for no longer than
    a move would cost is never later than twice the better of the two (Karlin, Manasse, Rudolph and Sleator,
    "Competitive snoopy caching", Algorithmica 3, 1988).

    :param until: instant at which the operation is expected to be over
    """
    request = lease.request
    wanted = request.submitted if request.start is None else request.start
    return until - wanted <= state.preparation_time and until < lease.holdings[0].run_end
