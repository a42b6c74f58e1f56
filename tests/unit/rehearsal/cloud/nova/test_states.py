from __future__ import annotations

import pytest

from lease_scheduler.rehearsal.cloud.nova import states


@pytest.mark.parametrize(
    ("state", "task", "status"),
    [
        (states.ACTIVE, None, "ACTIVE"),
        (states.ACTIVE, states.SPAWNING, "ACTIVE"),
        (states.ACTIVE, states.REBOOTING_HARD, "HARD_REBOOT"),
        (states.ACTIVE, states.RESIZE_PREP, "RESIZE"),
        (states.STOPPED, states.REBUILDING, "REBUILD"),
        (states.STOPPED, states.REBOOTING_HARD, "SHUTOFF"),
        (states.RESIZED, None, "VERIFY_RESIZE"),
        (states.RESIZED, states.RESIZE_REVERTING, "REVERT_RESIZE"),
        (states.SHELVED_OFFLOADED, states.UNSHELVING, "SHELVED_OFFLOADED"),
        (states.SOFT_DELETED, None, "SOFT_DELETED"),
    ],
)
def test_the_status_of_a_state_and_a_task_is_that_of_nova(state: str, task: str | None, status: str) -> None:
    assert states.status(state, task) == status
    assert state in states.states_of(status)
