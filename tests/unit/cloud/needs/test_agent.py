"""The source of needs that asks the agents on compute hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lease_scheduler.cloud.needs.agent import AgentNeeds
from lease_scheduler.cloud.needs.base import NeedsOptions


class _Cloud:
    def __init__(self) -> None:
        self.times: Mapping[str, float] = {}

    def cpu_times(self) -> Mapping[str, float]:
        return self.times

    def servers_of(self, leases: Any) -> Any:
        raise AssertionError("the caller knows the servers")

    def cpu_time(self, server_id: str) -> float | None:
        raise AssertionError("agents are asked, not the cloud")


def test_what_counters_have_grown_by_is_what_servers_use() -> None:
    """Counters that are new, are gone or have jumped back tell nothing until the next time."""
    cloud, clock = _Cloud(), [100.0]
    source = AgentNeeds(NeedsOptions({}, cloud), lambda: clock[0])
    servers = ["a", "b", "c"]
    cloud.times = {"a": 50.0, "b": 10.0, "other": 1.0}
    assert source.cpus(servers) == {}
    clock[0] += 10
    cloud.times = {"a": 65.0, "b": 2.0, "c": 1.0, "other": 2.0}
    assert source.cpus(servers) == {"a": 1.5}
    clock[0] += 10
    cloud.times = {"b": 7.0, "c": 1.0}
    assert source.cpus(servers) == {"b": 0.5, "c": 0.0}
    cloud.times = {"b": 8.0}
    assert source.cpus(servers) == {}, "the clock stands still"
    clock[0] += 10
    cloud.times = {"a": 70.0, "b": 13.0}
    assert source.cpus(servers) == {"b": pytest.approx(0.5)}
