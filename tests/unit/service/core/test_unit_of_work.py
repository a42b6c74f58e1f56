"""What is written when a lease changes, and at its end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Operation, OperationKind
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.unit_of_work import UnitOfWork


@pytest.mark.parametrize(("on_end", "removals"), [("delete", 0), ("snapshot", 1), ("keep", 1)])
def test_a_lease_that_wants_images_is_removed_after_its_end(on_end: str, removals: int) -> None:
    """Images are made of stopped servers, which the stop of the lease leaves."""
    work = UnitOfWork(1)
    request = LeaseRequest("l", LeaseKind.RESERVATION, (NodeSet(1, Resources({"VCPU": 1})),), 0, duration=10, start=0)
    lease = replace(Lease(request, 1), state=LeaseState.ACTIVE, started=0, active_since=0)
    document = LeaseDocument("l", "lease", "biology", "user", 0, on_end=on_end)
    work.restore([lease], {"l": document}, [])
    work.intents.begin(Operation(OperationKind.STOP, "l", (0,), 10, 10))
    _, (stop,) = work.take(10)
    work.intents.report(stop, CloudEvent(EventKind.COMPLETED, 11, "l"))
    assert work.intents.take_events(11)
    work.save(replace(lease, state=LeaseState.DONE, active_since=None, ended=11))
    _, begun = work.take(11)
    assert [each.operation for each in begun] == [None] * removals
    # Notifications about its images still name its project.
    assert (work.document_of("l") is not None) == bool(removals)


def test_each_entry_of_a_history_begins_with_the_state_in_which_the_one_before_ended() -> None:
    """A running lease loses its host, and waits for another: found by a rehearsal (seed 16)."""
    work = UnitOfWork(1)
    request = LeaseRequest("l", LeaseKind.DEADLINE, (NodeSet(1, Resources({"VCPU": 1})),), 0, 10, 0, 100)
    lease = Lease(request, 1, LeaseState.ACTIVE, started=0, active_since=0, holdings=(Holding((0,), 0, 0, 10, 10),))
    work.restore([lease], {"l": LeaseDocument("l", "lease", "biology", "user", 0)}, [])
    moved = replace(lease, state=LeaseState.READY, active_since=None, holdings=(Holding((1,), 20, 20, 30, 30),))
    work.save(replace(moved, reason="host compute-1 failed"))
    states = [(entry.before, entry.after) for entry in work.changes.transitions]
    assert states == [("active", "ready"), ("ready", "ready")]
    assert work.changes.transitions[-1].reason.startswith("moved: host compute-1 failed")
