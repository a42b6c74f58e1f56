"""Engines and agents over a real RabbitMQ: killed, restarted, in the wrong site, with a wrong secret (issue 22).

The agents are programs of their own, on hypervisors that only pretend. The engine's side is the part of the driver that
gives orders.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.agent.fake import state_file
from lease_scheduler.agent.protocol import AgentError, host_key
from lease_scheduler.cloud.nova.lease.shares import ServerShares
from lease_scheduler.cmd import configuration, manage
from lease_scheduler.cmd.agents import agent_client
from lease_scheduler.nova.boots import FLAVOR_LEASE
from tests.servers.base import OwnProcess, wait_until

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SECRET = "the secret of this site"
LIMIT = 60.0


def insist(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    assert wait_until(condition, LIMIT)


class Site:
    """Two hosts, each with an agent and a server of a fluid lease beside one of another lease."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.processes: list[OwnProcess] = []
        self.engines: list[ServerShares] = []
        self.servers = []
        for host in ("one", "two"):
            state = {"cpus": 2, "servers": {f"fluid-{host}": {"vcpus": 1}, f"whole-{host}": {"vcpus": 1}}}
            self.hypervisor(host).write_text(json.dumps(state))
            self.servers.append(
                SimpleNamespace(
                    id=f"fluid-{host}",
                    tags=[],
                    flavor={"vcpus": 1, "extra_specs": {FLAVOR_LEASE: "lease"}},
                    **{"OS-EXT-SRV-ATTR:host": host},
                )
            )

    def hypervisor(self, host: str) -> Path:
        """Return the file with the servers of a host."""
        return self.folder / f"{host}.json"

    def shares(self, host: str) -> tuple[int, int]:
        """Return the present weights of the server of the fluid lease and of the other one."""
        state = state_file(self.hypervisor(host))
        servers = json.loads(state.read_text())["servers"] if state.exists() else {}
        return tuple(servers.get(f"{name}-{host}", {}).get("shares", 100) for name in ("fluid", "whole"))

    def configuration(self, name: str, secret: str | None, site: str, more: str = "") -> list[str]:
        """Write a configuration, and return the arguments that name it."""
        path = self.folder / f"{name}.conf"
        path.write_text(
            f"[DEFAULT]\ntransport_url = {self.url}\n[service]\nsite = {site}\nstate_path = {self.folder}\n"
            f"[agent]\n{'' if secret is None else f'secret = {secret}'}\nrenew_interval = 1\nanswer_timeout = 3\n{more}"
        )
        return ["--config-file", str(path)]

    def agent(self, host: str, secret: str = SECRET, site: str = "site", expire_after: float = 600.0) -> OwnProcess:
        """Start the agent of a host, which knows the key of this host alone."""
        more = (
            f"host_key = {host_key(secret, site, host)}\n"
            f"host = {host}\nhypervisor = fake\nfake_hypervisor = {self.hypervisor(host)}\n"
            f"check_interval = 0.2\nexpire_after = {expire_after}\n"
        )
        command = [
            str(Path(sys.executable).parent / "lease-scheduler-agent"),
            *self.configuration(f"agent-{host}", None, site, more),
        ]
        self.processes.append(OwnProcess(f"agent-{host}", command, self.folder / f"{host}.log"))
        return self.processes[-1]

    def client(self) -> Any:
        """Return a client of the agents."""
        return agent_client(configuration.load(self.configuration("engine", SECRET, "site")))

    def engine(self) -> ServerShares:
        """Start the engine's side."""
        self.engines.append(ServerShares(self.client, lambda: self.servers, 0.5))
        self.engines[-1].start()
        return self.engines[-1]


@pytest.fixture
def site(tmp_path: Path, rabbitmq_url: str) -> Iterator[Site]:
    made = Site(tmp_path, rabbitmq_url)
    yield made
    for engine in made.engines:
        engine.stop()
    for process in made.processes:
        process.kill()


def test_agents_and_engines_that_are_killed(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    agents = {host: site.agent(host) for host in ("one", "two")}
    engine = site.engine()
    engine.share(1, {"lease": 0.5})
    insist(lambda: site.shares("one") == site.shares("two") == (50, 100))
    insist(lambda: engine.degraded == {})

    # An agent is killed: the other host follows, and its own when it is back, with the weights that it was not told of.
    agents["one"].kill()
    engine.share(2, {"lease": 0.25})
    insist(lambda: site.shares("two") == (25, 100) and list(engine.degraded) == ["one"])
    assert site.shares("one") == (50, 100)
    site.agent("one")
    insist(lambda: site.shares("one") == (25, 100) and engine.degraded == {})

    # The engine is gone: nothing changes. The next one overrules the old one, which has not noticed yet.
    following = site.engine()
    following.share(1, {"lease": 0.75})
    insist(lambda: site.shares("one") == site.shares("two") == (75, 100))
    engine.stop()
    insist(lambda: site.shares("one") == site.shares("two") == (75, 100) and following.degraded == {})

    manage.main([*site.configuration("engine", SECRET, "site"), "agent", "key", "one"])
    assert capsys.readouterr().out == host_key(SECRET, "site", "one") + "\n"

    # The servers have used their time in proportion to what they got.
    manage.main([*site.configuration("engine", SECRET, "site"), "agent", "list", "one", "three"])
    lines = [re.findall(r"[\w.-]+", line) for line in capsys.readouterr().out.splitlines()]
    assert ["one", "ok"] in lines
    (server,) = [line for line in lines if "fluid-one" in line]
    assert (server[:3], float(server[3]) > 0) == (["fluid-one", "1", "75"], True)
    assert ["three", "does", "not", "answer"] in lines
    following.share(2, {})
    insist(lambda: site.shares("one") == site.shares("two") == (100, 100))


def test_weights_that_no_engine_renews_expire(site: Site) -> None:
    site.agent("one", expire_after=4.0)
    engine = site.engine()
    engine.share(1, {"lease": 0.5})
    insist(lambda: site.shares("one") == (50, 100))
    engine.stop()
    insist(lambda: site.shares("one") == (100, 100))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"secret": "the secret of another site"}, "it has another secret or another site"),
        ({"site": "other"}, "does not answer"),
    ],
)
def test_an_agent_of_another_site_is_not_commanded(site: Site, other: dict[str, str], reason: str) -> None:
    site.agent("one", **other)  # type: ignore[arg-type]
    insist(lambda: "agent of host one" in (site.folder / "one.log").read_text())
    client = site.client()
    with pytest.raises(AgentError, match=reason):
        client.order("one", {"fluid-one": 50})
    client.close()
    assert site.shares("one") == (100, 100)


def test_a_hypervisor_that_is_away_is_told(site: Site) -> None:
    content = site.hypervisor("one").read_text()
    site.hypervisor("one").unlink()
    site.agent("one")
    engine = site.engine()
    engine.share(1, {"lease": 0.5})
    insist(lambda: "does not describe a hypervisor" in engine.degraded.get("one", ""))
    site.hypervisor("one").write_text(content)
    insist(lambda: site.shares("one") == (50, 100) and "one" not in engine.degraded)
