"""Servers that follow their lease to other hosts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import BadRequest

from lease_scheduler.cloud.nova.preemption import ServerPreemption
from lease_scheduler.cloud.nova.throttle import Throttle
from tests.unit.cloud.nova import fakes


class FakeNova:
    """A server and whether Nova refuses to evacuate it."""

    def __init__(self, now_on: str, refuses: bool) -> None:
        self.now_on = now_on
        self.refuses = refuses
        self.evacuated: list[str] = []
        self.servers = SimpleNamespace(evacuate=self._evacuate, get=lambda each: fakes.server(each, self.now_on))

    def _evacuate(self, server: Any) -> None:
        if self.refuses:
            raise BadRequest(400, "Compute service of host2 is still in use.")
        self.evacuated.append(server.id)


def _follow(nova: FakeNova) -> bool:
    nothing: Any = SimpleNamespace()
    throttle = Throttle(per_host=1, in_all=1)
    preemption = ServerPreemption(nova, nothing, nothing, nothing, throttle, nothing, nothing, nothing)
    return preemption.follow([fakes.server("s", "host1")], {"host2"}, lambda service: service != "host1")


def test_a_server_of_a_host_that_is_down_is_evacuated() -> None:
    nova = FakeNova("host1", refuses=False)
    assert not _follow(nova)
    assert nova.evacuated == ["s"]


def test_a_server_that_arrived_in_the_meantime_is_looked_at_again() -> None:
    """Nova shows it without a task on its former host just before it shows it on the new one."""
    assert not _follow(FakeNova("host2", refuses=True))


def test_other_refusals_are_told() -> None:
    with pytest.raises(BadRequest):
        _follow(FakeNova("host1", refuses=True))
