"""Hosts that are freed for a lease."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.vacating.attempts import Attempts
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.options import RoomOptions
from lease_scheduler.cloud.nova.vacating.preemption import Place, ServerPreemption
from tests.unit.cloud.nova import fakes

_OPTIONS = RoomOptions()


def _vacate(status: str, task: str | None) -> bool:
    """Vacate a host, for which there is no patience any more, of a server of another lease that was put away."""
    server = fakes.server("a", "node1", lease_id="other", status=status)
    setattr(server, "OS-EXT-STS:task_state", task)
    none: Any = cast(Any, None)
    given_up = cast(Any, SimpleNamespace(is_given_up=lambda each: False))
    guests = cast(Any, SimpleNamespace(mark=lambda servers: None))
    away = cast(Any, SimpleNamespace(put_away=lambda *_, **__: True))
    departures = cast(Any, SimpleNamespace(unfinished=lambda host, own: []))

    def listed(**_: str) -> list[Any]:
        return [server]

    intruders = Intruders(none, listed, guests, none, none, departures, _OPTIONS)
    attempts = Attempts(cast(Any, SimpleNamespace(forget=lambda server_id: None)))
    preemption = ServerPreemption(none, listed, guests, intruders, away, given_up, attempts, _OPTIONS)
    late = _OPTIONS.intruder_patience + 1
    return preemption.vacate(Place("node1", "node1"), "mine", None, [], [], late)


@pytest.mark.parametrize("task", [None, "image_snapshot", "image_uploading", "image_backup"])
@pytest.mark.parametrize("status", ["SHUTOFF", "SUSPENDED"])
def test_a_stopped_server_of_another_lease_may_stay(status: str, task: str | None) -> None:
    """Also while an image of it is made, which its project can repeat for ever although the server is locked."""
    assert _vacate(status, task)


@pytest.mark.parametrize(("status", "task"), [("ACTIVE", None), ("ACTIVE", "image_snapshot"), ("SHUTOFF", "deleting")])
def test_any_other_one_may_not(status: str, task: str | None) -> None:
    with pytest.raises(HostsOccupiedError):
        _vacate(status, task)
