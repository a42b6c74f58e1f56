"""The hypervisor that only pretends divides CPU time as Linux does (issue 22)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.agent.fake import FakeHypervisor, divide
from lease_scheduler.agent.hypervisor import HypervisorAwayError, RunningServer, SharesRefusedError


def test_cpu_time_goes_by_weight_and_what_one_does_not_use_goes_to_the_others() -> None:
    """The example of dfrs A32: weights of 70 and 30, of which the first does not use all."""
    servers: dict[str, dict[str, Any]] = {"a": {"vcpus": 1, "shares": 70}, "b": {"vcpus": 1, "shares": 30}}
    assert divide(1.0, servers) == pytest.approx({"a": 0.7, "b": 0.3})
    servers["a"]["demand"] = 0.5
    assert divide(1.0, servers) == pytest.approx({"a": 0.5, "b": 0.5})
    assert divide(4.0, servers) == pytest.approx({"a": 0.5, "b": 1.0})
    assert divide(4.0, {}) == {}


def test_servers_outlive_the_agent(tmp_path: Path) -> None:
    path, clock = tmp_path / "hypervisor.json", [100.0]
    path.write_text(
        json.dumps({"cpus": 1, "servers": {"a": {"vcpus": 1}, "b": {"vcpus": 1, "usual_shares": 50, "refuses": True}}})
    )

    def agent() -> FakeHypervisor:
        return FakeHypervisor(path, lambda: clock[0])

    assert agent().cpus() == 1
    assert agent().servers() == {"a": RunningServer(1, 100, 100, 0.0), "b": RunningServer(1, 50, 50, 0.0)}
    agent().set_shares("a", 150)
    clock[0] += 8
    assert agent().servers() == {"a": RunningServer(1, 150, 100, 6.0), "b": RunningServer(1, 50, 50, 2.0)}
    with pytest.raises(SharesRefusedError):
        agent().set_shares("b", 10)
    agent().set_shares("gone", 10)
    clock[0] -= 50
    assert agent().servers()["a"].cpu_seconds == 6.0, "a clock that is set back takes no time back"


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"cpus": "many", "servers": {}}'])
def test_a_file_that_describes_no_hypervisor_counts_as_away(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "hypervisor.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(HypervisorAwayError, match=r"hypervisor\.json"):
        FakeHypervisor(path).servers()
