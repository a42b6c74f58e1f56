"""A clock that was set back while no engine ran: leases that have begun have their hosts now, and end as planned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.set_back import begun_by
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from tests.unit.engine.conftest import request

NOW = 400
_HELD = Holding((0,), 1_000, 1_030, 5_000, 5_010)
_LEASE = Lease(request("1", LeaseKind.BEST_EFFORT), 1, LeaseState.READY, holdings=(_HELD,))


def _operation(kind: OperationKind, begun: int) -> Operation:
    return Operation(kind, "1", (0,), begun, begun + 30)


def test_a_lease_that_runs() -> None:
    runs = replace(_LEASE, state=LeaseState.ACTIVE, started=900, active_since=1_030, missing_since=1_040)

    known = begun_by(runs, None, NOW)

    assert known.holdings == (Holding((0,), NOW, NOW, 5_000, 5_010),)
    assert (known.started, known.active_since, known.missing_since) == (NOW, NOW, NOW)
    assert begun_by(runs, None, 2_000) is runs


@pytest.mark.parametrize(
    ("kind", "begun", "expected"),
    [
        (OperationKind.RESUME, 1_000, (NOW, 1_030)),
        (OperationKind.START, 1_000, (NOW, NOW)),
        # It is booted ahead of its start, on hosts that others may have until then.
        (OperationKind.START, 990, (1_000, 1_030)),
    ],
)
def test_a_lease_that_begins(kind: OperationKind, begun: int, expected: tuple[int, int]) -> None:
    first = begun_by(_LEASE, _operation(kind, begun), NOW).holdings[0]

    assert (first.start, first.run_start) == expected
    assert (first.run_end, first.end) == (5_000, 5_010)


def test_a_lease_that_waits_is_as_it_was() -> None:
    assert begun_by(_LEASE, None, NOW) is _LEASE
    queued = replace(_LEASE, holdings=(), state=LeaseState.QUEUED)
    assert begun_by(queued, None, NOW) is queued
