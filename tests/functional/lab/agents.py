"""Agents on the fake hosts of the lab: each weighs the servers that Nova really has on its host."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from keystoneauth1.exceptions import ClientException

from lease_scheduler.agent.fake import state_file
from tests.servers.base import OwnProcess
from tests.servers.openstack.lab import Lab

SECRET = "the secret of the agents of the lab"

#: Seconds after which an agent whose engine is away gives servers the weights of Nova back, between two comparisons of
#: an agent, and between two looks at the servers that Nova has.
EXPIRE_AFTER, _CHECK_INTERVAL, _LOOK_INTERVAL = 12.0, 0.3, 0.2

#: Nova's number for a server that runs.
_RUNNING = 1


class HostAgents:
    """An agent for each of some hosts, and the guests of their fake hypervisors: those of Nova's fake driver.

    The driver writes which servers a host has; this class tells the fake hypervisor, with the CPUs that Nova's flavor
    gives them, and what they would use.

    :param folder: for their files
    :param transport_url: message bus of our service
    :param ratio: how many times Nova promises the CPUs of a host
    """

    def __init__(self, folder: Path, lab: Lab, hosts: Iterable[str], transport_url: str, ratio: float) -> None:
        self._folder, self._lab, self._hosts = folder, lab, tuple(hosts)
        self._transport_url, self._ratio = transport_url, ratio
        self._cpus = {host.name: host.vcpus for host in lab.hosts}
        self._vcpus: dict[str, int] = {}
        self._demands: dict[str, float] = {}
        self._ended_guests: set[str] = set()
        self._lock, self._ended = Lock(), Event()
        self._look()
        self._thread = Thread(target=self._follow, name="guests", daemon=True)
        self._thread.start()
        self._agents: dict[str, OwnProcess] = {}
        for host in self._hosts:
            self.start(host)

    def start(self, host: str) -> None:
        """Start the agent of a host."""
        path = self._folder / f"{host}.conf"
        path.write_text(
            f"[DEFAULT]\ntransport_url = {self._transport_url}\n[service]\nstate_path = {self._folder}\n"
            f"[agent]\nsecret = {SECRET}\nhost = {host}\ncpu_allocation_ratio = {self._ratio}\nrenew_interval = 3\n"
            f"hypervisor = fake\nfake_hypervisor = {self._file(host)}\n"
            f"check_interval = {_CHECK_INTERVAL}\nexpire_after = {EXPIRE_AFTER}\n"
        )
        command = [str(Path(sys.executable).parent / "lease-scheduler-agent"), "--config-file", str(path)]
        self._agents[host] = OwnProcess(f"agent-{host}", command, self._folder / f"{host}.log")

    def kill(self, host: str) -> None:
        """Kill the agent of a host."""
        self._agents.pop(host).kill()

    def close(self) -> None:
        """Kill all agents, and do not follow Nova any more."""
        for host in list(self._agents):
            self.kill(host)
        self._ended.set()
        self._thread.join()

    def reap(self) -> None:
        """End the guests that Nova does not know any more, as nova-compute does now and then on a real host."""
        known = {each["id"] for each in self._lab.admin.compute("GET", "/servers?all_tenants=1")["servers"]}
        with self._lock:
            self._ended_guests |= self._vcpus.keys() - known

    def set_demands(self, demands: Mapping[str, float]) -> None:
        """Have servers use so many CPUs at most from now on; others use all that they get."""
        with self._lock:
            self._demands.update(demands)

    def guests(self, host: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the guests of a host as its agent has them: shares, if it has ever set any, and CPU seconds."""
        path = state_file(self._file(host))
        found: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text())["servers"] if path.exists() else {}
        return found

    def weights(self, host: str) -> dict[str, int]:
        """Return the weights of the guests of a host; 100 is the usual one."""
        return {server: each.get("shares", 100) for server, each in self.guests(host).items()}

    def log(self, host: str) -> str:
        """Return the log of an agent."""
        return (self._folder / f"{host}.log").read_text()

    def _file(self, host: str) -> Path:
        return self._folder / f"guests-{host}.json"

    def _follow(self) -> None:
        while not self._ended.wait(_LOOK_INTERVAL):
            self._look()

    def _look(self) -> None:
        """Give each hypervisor the servers that run on its host according to Nova's driver."""
        for host in self._hosts:
            memory = self._lab.computes_of(host).folder / f"{host}.json"
            known = json.loads(memory.read_text()) if memory.exists() else {}
            running = [server for server, (_, state) in known.items() if state == _RUNNING]
            self._find_sizes(running)
            with self._lock:
                servers = {
                    server: {"vcpus": self._vcpus[server], "demand": self._demands.get(server, self._vcpus[server])}
                    for server in running
                    if server in self._vcpus and server not in self._ended_guests
                }
            content, path = json.dumps({"cpus": self._cpus[host], "servers": servers}), self._file(host)
            if not path.exists() or path.read_text() != content:
                new = path.with_suffix(".new")
                new.write_text(content)
                new.replace(path)

    def _find_sizes(self, servers: Iterable[str]) -> None:
        for server in servers:
            if server not in self._vcpus:
                try:
                    self._vcpus[server] = self._lab.admin.server(server)["flavor"]["vcpus"]
                except ClientException:
                    # It is gone, or Nova is away; the next look asks again.
                    continue
