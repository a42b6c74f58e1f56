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
    """A hypervisor whose servers are described by a file.

    The file is a JSON object: ``cpus`` is the number of CPUs of the host, and ``servers`` has for each id the number of
    ``vcpus``, and optionally ``demand`` (CPUs that it would use, by default all), ``usual_shares``, and ``refuses``
    (whether its weight cannot be changed). Others may replace the file at any time: servers come, go and change their
    demand. The agent writes their ``shares`` and ``cpu_seconds`` to a file beside it (``state_file``). CPU time is
    divided as the scheduler of Linux does it: by weight, and what a server does not use goes to the others.

    :param now: returns seconds since the epoch
    """

    scale = _SCALE

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now

    def cpus(self) -> int:
        """See ``Hypervisor.cpus``."""
        return int(self._read_description()["cpus"])

    def servers(self) -> Mapping[str, RunningServer]:
        """See ``Hypervisor.servers``."""
        return {
            server_id: RunningServer(each["vcpus"], _shares(each), _usual_shares(each), each["cpu_seconds"])
            for server_id, each in self._advanced().items()
        }

    def set_shares(self, server_id: str, shares: int) -> None:
        """See ``Hypervisor.set_shares``."""
        servers = self._advanced()
        server = servers.get(server_id)
        if server is None:
            return
        if server.get("refuses"):
            raise SharesRefusedError("the hypervisor refuses to change its weight")
        server["shares"] = shares
        self._write(servers)

    def _advanced(self) -> dict[str, dict[str, Any]]:
        """Bring the CPU times of the servers up to the present instant, and return the servers."""
        described, (since, known), now = self._read_description(), self._read_state(), self._now()
        servers = {
            server_id: {**each, "cpu_seconds": 0.0, **known.get(server_id, {})}
            for server_id, each in described["servers"].items()
        }
        # A server that has come since then counts from now on.
        old = {server_id: each for server_id, each in servers.items() if server_id in known}
        for server_id, part in divide(float(described["cpus"]), old).items():
            servers[server_id]["cpu_seconds"] += part * max(0.0, now - since)
        self._write(servers, now)
        return servers

    def _read_description(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._path.read_text())
            return {"cpus": int(found["cpus"]), "servers": dict(found["servers"])}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HypervisorAwayError(f"{self._path} does not describe a hypervisor: {error!r}") from error

    def _read_state(self) -> tuple[float, dict[str, dict[str, Any]]]:
        """Return when the state was last written, and what it has of each server."""
        try:
            found = json.loads(state_file(self._path).read_text())
            return found["time"], found["servers"]
        except FileNotFoundError:
            return 0.0, {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HypervisorAwayError(f"{state_file(self._path)} is not of this hypervisor: {error!r}") from error

    def _write(self, servers: Mapping[str, Mapping[str, Any]], now: float | None = None) -> None:
        state = {
            "time": self._now() if now is None else now,
            "servers": {
                server_id: {name: each[name] for name in ("shares", "cpu_seconds") if name in each}
                for server_id, each in servers.items()
            },
        }
        path = state_file(self._path)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(state))
        os.replace(beside, path)


def state_file(path: Path) -> Path:
    """Return the file to which the agent writes the state of the servers that a file describes."""
    return path.with_name(f"{path.stem}-state.json")


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


def _usual_shares(server: Mapping[str, Any]) -> int:
    return int(server.get("usual_shares", _SCALE.cpu))


def _shares(server: Mapping[str, Any]) -> int:
    return int(server.get("shares", _usual_shares(server)))
