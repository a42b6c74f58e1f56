"""Orders that an agent gets in good and bad order, and a hypervisor with faults (issue 22)."""

from __future__ import annotations

import logging

import pytest

from lease_scheduler.agent.hypervisor import HypervisorAwayError, RunningServer, Scale, SharesRefusedError
from lease_scheduler.agent.keeper import WeightKeeper
from lease_scheduler.agent.protocol import Answer, Request


class Host:
    """A hypervisor, and the agent on it."""

    scale = Scale(1, 100, 10_000)

    def __init__(self) -> None:
        self.shares = {"fluid": 100, "whole": 100}
        self.refuses: set[str] = set()
        self.is_away = False
        self.now = 1000.0
        self.keeper = self.agent()

    def agent(self) -> WeightKeeper:
        """Start the agent anew."""
        return WeightKeeper(self, 60.0, monotonic=lambda: self.now)

    def cpus(self) -> int:
        return 4

    def servers(self) -> dict[str, RunningServer]:
        if self.is_away:
            raise HypervisorAwayError("libvirt does not answer")
        return {name: RunningServer(2, shares, 100, 5.0) for name, shares in self.shares.items()}

    def set_shares(self, server_id: str, shares: int) -> None:
        if server_id in self.refuses:
            raise SharesRefusedError("it is not allowed")
        self.shares[server_id] = shares

    def order(self, revision: int | None, run: str | None = None, **weights: int) -> Answer:
        """Give an order, by default to the present run of the agent."""
        run = self.ask().run if run is None else run
        return self.keeper.answer(Request("site", "host", "nonce", run, revision, weights))

    def ask(self) -> Answer:
        """Ask the agent."""
        return self.keeper.answer(Request("site", "host", "nonce"))


@pytest.fixture
def host() -> Host:
    return Host()


def test_an_order_is_carried_out_and_answered_with_what_servers_have_used(host: Host) -> None:
    answer = host.order(1, fluid=100)
    assert (answer.accepted, answer.revision, answer.problem, answer.nonce) == (True, 1, None, "nonce")
    assert host.shares == {"fluid": 100, "whole": 200}
    assert {name: (each.shares, each.cpu_seconds) for name, each in answer.servers.items()} == {
        "fluid": (100, 5.0),
        "whole": (200, 5.0),
    }


@pytest.mark.parametrize("revision", [0, 1, 2])
def test_an_order_that_is_played_back_changes_nothing(host: Host, revision: int) -> None:
    host.order(2, fluid=50)
    host.now += 59
    answer = host.order(revision, fluid=150)
    assert (answer.accepted, answer.revision) == (False, 2)
    assert host.shares["fluid"] == 50
    host.now += 1
    host.keeper.keep()
    assert host.shares == {"fluid": 100, "whole": 100}, "it renews nothing either"


def test_an_order_to_an_earlier_run_changes_nothing(host: Host) -> None:
    run = host.ask().run
    assert host.order(1, fluid=50).accepted
    host.keeper = host.agent()
    answer = host.order(2, run, fluid=150)
    assert (answer.accepted, answer.revision, answer.run == run) == (False, 0, False)
    assert host.shares["fluid"] == 50


def test_a_restarted_agent_leaves_the_weights_until_the_engine_has_had_time_to_repeat_them(host: Host) -> None:
    host.order(1, fluid=50)
    host.keeper = host.agent()
    host.now += 59
    host.keeper.keep()
    assert host.shares == {"fluid": 50, "whole": 200}
    host.now += 1
    host.keeper.keep()
    assert host.shares == {"fluid": 100, "whole": 100}


def test_weights_that_nobody_renews_expire(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    host.order(1, fluid=50)
    host.now += 59
    assert host.order(2, fluid=50).accepted
    host.now += 59
    host.keeper.keep()
    assert host.shares == {"fluid": 50, "whole": 200}
    host.now += 1
    host.keeper.keep()
    host.keeper.keep()
    assert host.shares == {"fluid": 100, "whole": 100}
    assert len([each for each in caplog.records if "no engine has renewed" in each.message]) == 1
    assert host.order(3, fluid=50).accepted
    assert host.shares == {"fluid": 50, "whole": 200}


def test_an_order_without_weights_restores_the_weights_of_nova(host: Host) -> None:
    host.order(1, fluid=50)
    host.order(2)
    assert host.shares == {"fluid": 100, "whole": 100}


def test_servers_that_come_or_are_reset_get_their_weights(host: Host) -> None:
    host.order(1, fluid=50)
    host.shares |= {"fluid": 100, "new": 100}
    host.keeper.keep()
    assert host.shares["new"] == 200
    assert host.shares["fluid"] < host.shares["new"] / 10, "two servers with all their CPUs leave nothing"
    del host.shares["whole"]
    host.keeper.keep()
    assert host.shares == {"fluid": 50, "new": 200}


def test_a_refusal_is_reported_and_other_servers_get_their_weights(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    host.refuses = {"fluid"}
    answer = host.order(1, fluid=50)
    assert (answer.accepted, answer.problem) == (True, "server fluid: it is not allowed")
    assert host.shares == {"fluid": 100, "whole": 200}
    host.keeper.keep()
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1, "it is logged once"
    host.refuses = set()
    assert host.ask().problem is None
    assert host.shares["fluid"] == 50


def test_a_hypervisor_that_is_away_gets_the_order_when_it_is_back(host: Host) -> None:
    host.is_away = True
    answer = host.order(1, fluid=50)
    assert (answer.accepted, answer.problem, answer.servers) == (True, "libvirt does not answer", {})
    host.keeper.keep()
    host.is_away = False
    host.keeper.keep()
    assert host.shares == {"fluid": 50, "whole": 200}
    assert host.ask().problem is None
