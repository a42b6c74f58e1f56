"""Orders of engines to one agent, on a bus within this process (issue 22)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lease_scheduler.agent.hypervisor import RunningServer, Scale
from lease_scheduler.agent.keeper import WeightKeeper
from lease_scheduler.agent.protocol import AgentError, host_key
from lease_scheduler.cmd import configuration, messaging
from lease_scheduler.cmd.wiring import default_transport

# Must come after messaging, which selects the threads of the library that they import.
from lease_scheduler.agent.client import AgentClient  # isort: skip
from lease_scheduler.agent.server import agent_server  # isort: skip

SECRET = "a secret of the site"


class Hypervisor:
    """A hypervisor with one server on its only CPU."""

    scale = Scale(1, 100, 10_000)

    def __init__(self) -> None:
        self.shares = 100

    def cpus(self) -> int:
        return 1

    def servers(self) -> dict[str, RunningServer]:
        return {"a": RunningServer(1, self.shares, 100, 0.0)}

    def set_shares(self, server_id: str, shares: int) -> None:
        self.shares = shares


class Bus:
    """A message bus with one host, whose agent can be started anew."""

    def __init__(self) -> None:
        conf = configuration.load([], find_files=False)
        default_transport(conf, "fake://")
        self.transport = messaging.rpc_transport(conf)
        self.hypervisor = Hypervisor()
        self.server: Any = None
        self.restart()

    def restart(self) -> None:
        """Start the agent anew."""
        self.stop()
        keeper = WeightKeeper(self.hypervisor, 60.0)
        self.server = agent_server(self.transport, "site", "host", host_key(SECRET, "site", "host"), keeper)
        self.server.start()

    def stop(self) -> None:
        """Stop the agent."""
        if self.server is not None:
            self.server.stop()
            self.server.wait()

    def engine(self, secret: str = SECRET) -> AgentClient:
        """Return the client of one more engine."""
        return AgentClient(self.transport, "site", secret, 10.0)


@pytest.fixture
def bus() -> Iterator[Bus]:
    made = Bus()
    yield made
    made.stop()
    made.transport.cleanup()


def test_the_engine_that_leads_prevails(bus: Bus) -> None:
    old, new = bus.engine(), bus.engine()
    assert [old.order("host", {"a": weight}).revision for weight in (50, 40)] == [1, 2]
    assert new.order("host", {"a": 30}).revision == 3
    with pytest.raises(AgentError, match="another engine gives it orders"):
        old.order("host", {"a": 20})
    assert bus.hypervisor.shares == 30
    assert new.order("host", {"a": 30}).revision == 4


def test_a_restarted_agent_gets_its_order(bus: Bus) -> None:
    engine = bus.engine()
    first = engine.order("host", {"a": 50})
    bus.restart()
    second = engine.order("host", {"a": 40})
    assert (second.accepted, second.revision, second.run == first.run) == (True, 1, False)
    assert bus.hypervisor.shares == 40


def test_an_engine_with_another_secret_can_neither_order_nor_ask(bus: Bus) -> None:
    stranger = bus.engine("the secret of another site")
    with pytest.raises(AgentError, match=r"it has another secret or another site; see \[agent\] secret"):
        stranger.ask("host")
    with pytest.raises(AgentError, match="it has another secret"):
        stranger.order("host", {"a": 5})
    assert bus.hypervisor.shares == 100
    assert bus.engine().ask("host").servers["a"].shares == 100
