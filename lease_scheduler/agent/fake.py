"""A hypervisor that only pretends, for the lab and for tests. Its servers are in a file, which outlives the agent."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lease_scheduler.agent.hypervisor import HypervisorAwayError, RunningServer, Scale, SharesRefusedError

#: As with cgroups version 2.
_SCALE = Scale(1, 100, 10_000)


class FakeHypervisor:
    """See the module.

    The file is a JSON object: ``cpus`` is the number of CPUs of the host, and ``servers`` has for each id the number of
    ``vcpus``, and optionally ``demand`` (CPUs that it would use, by default all), ``usual_shares``, and ``refuses``
    (whether its weight cannot be changed). The agent adds ``shares`` and ``cpu_seconds`` there. CPU time is divided as
    the scheduler of Linux does it: by weight, and what a server does not use goes to the others.

    :param now: returns seconds since the epoch
    """

    scale = _SCALE

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now

    def cpus(self) -> int:
        """See ``Hypervisor.cpus``."""
        return int(self._read()["cpus"])

    def servers(self) -> Mapping[str, RunningServer]:
        """See ``Hypervisor.servers``."""
        return {
            server_id: RunningServer(each["vcpus"], _shares(each), _usual(each), each.get("cpu_seconds", 0.0))
            for server_id, each in self._advanced()["servers"].items()
        }

    def set_shares(self, server_id: str, shares: int) -> None:
        """See ``Hypervisor.set_shares``."""
        state = self._advanced()
        server = state["servers"].get(server_id)
        if server is None:
            return
        if server.get("refuses"):
            raise SharesRefusedError("the hypervisor refuses to change its weight")
        server["shares"] = shares
        self._write(state)

    def _advanced(self) -> dict[str, Any]:
        """Return the state after the servers have used what they got since it was written."""
        state, now = self._read(), self._now()
        servers = state["servers"]
        seconds = max(0.0, now - state.get("time", now))
        for server_id, part in divide(float(state["cpus"]), servers).items():
            servers[server_id]["cpu_seconds"] = servers[server_id].get("cpu_seconds", 0.0) + part * seconds
        state["time"] = now
        self._write(state)
        return state

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._path.read_text())
            return found | {"cpus": int(found["cpus"]), "servers": dict(found["servers"])}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HypervisorAwayError(f"{self._path} does not describe a hypervisor: {error!r}") from error

    def _write(self, state: dict[str, Any]) -> None:
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(state))
        os.replace(beside, self._path)


def divide(cpus: float, servers: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return how many CPUs each server gets, by weight. What one does not use goes to the others."""
    left, open_servers = cpus, dict(servers)
    found: dict[str, float] = {}
    while open_servers:
        weight = sum(_shares(each) for each in open_servers.values())
        content = {
            server_id: _demand(each)
            for server_id, each in open_servers.items()
            if _demand(each) <= left * _shares(each) / weight
        }
        if not content:
            return found | {name: left * _shares(each) / weight for name, each in open_servers.items()}
        found |= content
        left -= sum(content.values())
        open_servers = {name: each for name, each in open_servers.items() if name not in content}
    return found


def _demand(server: Mapping[str, Any]) -> float:
    return min(float(server.get("demand", server["vcpus"])), float(server["vcpus"]))


def _usual(server: Mapping[str, Any]) -> int:
    return int(server.get("usual_shares", _SCALE.cpu))


def _shares(server: Mapping[str, Any]) -> int:
    return int(server.get("shares", _usual(server)))
