"""What is due next (haizea 4.1, F18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.agenda import Agenda, Due, next_due
from lease_scheduler.model.holding import Holding, MigrationRound
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState

from .conftest import request

PLACE = Holding((0,), 100, 132, 500, 532)
#: A place without a phase before its run.
AT_ONCE = replace(PLACE, start=132)
MOVED = replace(PLACE, migrations=(MigrationRound(40, 60, ((0, 1, 0),)), MigrationRound(60, 80, ((0, 0, 1),))))


def _lease(state: LeaseState, *holdings: Holding, number: int = 0) -> Lease:
    return Lease(request(str(number), LeaseKind.BEST_EFFORT), number, state, holdings=holdings)


@pytest.mark.parametrize(
    ("state", "holding", "due"),
    [
        (LeaseState.READY, AT_ONCE, (132, Due.START)),
        # Booted ahead.
        (LeaseState.READY, PLACE, (132, Due.ACTIVATE)),
        (LeaseState.ACTIVE, PLACE, (500, Due.CLOSE)),
        (LeaseState.SUSPENDED_SCHEDULED, PLACE, (100, Due.RESUME)),
        (LeaseState.SUSPENDED_SCHEDULED, MOVED, (40, Due.MIGRATE)),
        (LeaseState.RESUMED_READY, PLACE, (132, Due.ACTIVATE)),
        (LeaseState.SUSPENDING, PLACE, None),
        (LeaseState.PENDING, PLACE, None),
    ],
)
def test_what_is_due_follows_from_state_and_place(
    state: LeaseState, holding: Holding, due: tuple[int, Due] | None
) -> None:
    """haizea F15: the first reservation counts, and during an operation the end of that."""
    assert next_due(_lease(state, holding, PLACE), in_operation=False) == due
    assert next_due(_lease(state, holding, PLACE), in_operation=True) == (532, Due.OVERDUE)
    assert next_due(_lease(state), in_operation=False) is None
    assert next_due(_lease(state), in_operation=True) is None


def test_ends_come_before_starts_and_equals_in_the_order_of_submission() -> None:
    """haizea 4.1, 8.2, 16: at one instant hosts are released before they are taken."""
    agenda = Agenda()
    for number, due in enumerate([(9, Due.START), (9, Due.CLOSE), (9, Due.RESUME), (9, Due.OVERDUE), (8, Due.START)]):
        agenda.push(_lease(LeaseState.READY, number=number), due)
    agenda.push(_lease(LeaseState.READY, number=7), (9, Due.CLOSE))
    assert agenda.first() == (8, Due.START, "4")
    assert agenda.pop(7) is None
    agenda.drop_first()
    assert [agenda.pop(9) for _ in range(6)] == [
        (9, Due.OVERDUE, "3"),
        (9, Due.CLOSE, "1"),
        (9, Due.CLOSE, "7"),
        (9, Due.RESUME, "2"),
        (9, Due.START, "0"),
        None,
    ]
    assert agenda.first() is None
