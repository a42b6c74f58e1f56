"""The whole service in a simulated world: engines are killed, and one seed gives one history."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from lease_scheduler.cmd.rehearsing.rehearsal import Rehearsal, Stage, staged
from lease_scheduler.rehearsal.actors.clients import Rest
from lease_scheduler.rehearsal.runtime.database import COMMIT, DatabaseFaults, Moment
from lease_scheduler.rehearsal.runtime.patching import Patches
from lease_scheduler.rehearsal.runtime.processes import Process

# Killed processes do not close the file of the simulated cloud.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")

_LOCK = b"lease-scheduler-default"
_MINUTE = 60.0
_HOSTS = 4

#: Seconds in which another engine leads, whatever happened to the one before.
_TAKE_OVER = 20.0


class _Site:
    """A world of two engines and a REST service."""

    def __init__(self, stage: Stage, rehearsal: Rehearsal) -> None:
        self.world = stage.world
        rehearsal.people(stage)
        self.world.run(30.0)

    def leader(self) -> Process:
        """Return the engine that has the lock."""
        owner = self.world.elections.owner(_LOCK)
        assert owner is not None
        pid = int(owner.rpartition(b".")[2])
        return next(each for each in self.world.processes if each.pid == pid)

    def ask(self, *requests: tuple[str, str, Any]) -> list[Any]:
        """Return the answers to requests, each of which must succeed: method, path, body."""
        answers: list[Any] = []

        def main() -> None:
            rest = Rest("admin")
            for request in requests:
                answer = rest.ask(*request)
                assert answer.status_code < 300, answer.text
                answers.append(answer.json())

        self.world.start("user", "desk", main)
        self.world.run(5.0)
        assert self.world.scheduler.crashes == []
        assert len(answers) == len(requests)
        return answers

    def create(self, name: str, **terms: Any) -> str:
        """Create a lease of one host, and return its id."""
        nodes = [{"count": 1, "resources": {"VCPU": 8}}]
        (made,) = self.ask(("POST", "leases", {"name": name, "nodes": nodes, **terms}))
        return str(made["lease"]["id"])

    def states(self, *ids: str) -> list[str]:
        """Return the states of leases."""
        return [found["lease"]["state"] for found in self.ask(*(("GET", f"leases/{each}", None) for each in ids))]


def _open(seed: int, patches: Patches, image: bytes, pauses: float = 0.0) -> Any:
    return staged(Rehearsal(seed, _HOSTS, pauses=pauses), patches, image)


def test_when_the_leading_engine_is_killed_the_other_one_leads_and_no_lease_is_lost(
    patches: Patches, image: bytes
) -> None:
    with _open(1, patches, image) as stage:
        site, world = _Site(stage, Rehearsal(1, _HOSTS, tenants=0)), stage.world
        short = site.create("short", kind="immediate", duration=300)
        long = site.create("long", kind="best-effort", duration=900)
        world.run(_MINUTE)
        assert site.states(short, long) == ["active", "active"]
        before = site.leader()
        before.kill()
        world.run(_TAKE_OVER)
        assert site.leader() is not before
        assert site.states(short, long) == ["active", "active"]
        site.leader().kill()
        world.start_engine("control-3")
        world.run(6 * _MINUTE)
        assert site.states(short, long) == ["done", "active"]
        world.run(10 * _MINUTE)
        assert site.states(short, long) == ["done", "done"]
        assert site.leader().host == "control-3"
        assert site.ask(("GET", "leases", None))[0]["leases"]


def test_an_engine_that_cannot_begin_is_started_again(patches: Patches, image: bytes) -> None:
    with _open(1, patches, image) as stage:
        world = stage.world
        world.elections.is_away = lambda process: True
        world.start_engine("control-1")
        world.run(_MINUTE)
        assert world.elections.owner(_LOCK) is None
        world.elections.is_away = lambda process: False
        world.run(_TAKE_OVER)
        assert world.elections.owner(_LOCK) is not None
        assert world.scheduler.crashes == []
        assert len([each for each in world.processes if each.is_alive and each.label.startswith("engine")]) == 1


class _KillAt(DatabaseFaults):
    """Kills whoever commits, at one commit of an engine."""

    def __init__(self, number: int, moment: Moment) -> None:
        self._left, self._moment = number, moment

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        if statement == COMMIT and moment is self._moment and process.label.startswith("engine"):
            self._left -= 1
            if self._left == 0:
                process.kill()


@pytest.mark.parametrize("moment", Moment)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
def test_an_engine_may_be_killed_around_any_commit(patches: Patches, image: bytes, number: int, moment: Moment) -> None:
    with _open(number, patches, image) as stage:
        site, world = _Site(stage, Rehearsal(1, _HOSTS, tenants=0)), stage.world
        lease = site.create("lease", kind="best-effort", duration=600)
        world.database.faults = _KillAt(number, moment)
        engines = [each for each in world.processes if each.label.startswith("engine")]
        world.run(_MINUTE)
        assert [each.is_alive for each in engines].count(False) == 1
        world.run(_MINUTE)
        assert site.states(lease) == ["active"]
        world.run(15 * _MINUTE)
        assert site.states(lease) == ["done"]


def _digest(seed: int, patches: Patches, image: bytes) -> tuple[str, list[str]]:
    rehearsal = Rehearsal(seed, _HOSTS, tenants=3)
    with _open(seed, patches, image, pauses=0.05) as stage:
        site, world = _Site(stage, rehearsal), stage.world
        world.run(20 * _MINUTE)
        site.leader().kill()
        world.run(10 * _MINUTE)
        assert world.scheduler.crashes == []
        return world.trace.digest(), list(stage.ledger.leases)


def test_one_seed_gives_one_history_and_another_one_another(patches: Patches, image: bytes) -> None:
    digest, leases = _digest(7, patches, image)
    assert leases
    assert _digest(7, patches, image) == (digest, leases)
    assert _digest(8, patches, image)[0] != digest


@pytest.mark.parametrize(("cloud", "days", "seed"), [("simulated", "0.04", "6"), ("nova", "0.03", "8")])
def test_the_history_does_not_depend_on_the_order_of_sets(cloud: str, days: str, seed: str) -> None:
    """Which Python chooses anew in each process. Engines are killed and separated, so that leaders end."""

    def run(hash_seed: str) -> str:
        program = "from lease_scheduler.cmd.manage import main; main()"
        size = ["--days", days, "--hosts", "4", "--tenants", "3"]
        options = ["--seed", seed, "--cloud", cloud, "--faults", "kill,separation", *size]
        command = [sys.executable, "-c", program, "rehearse", *options]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
        return done.stdout.partition(", faults")[0].rpartition(", ")[0]

    first = run("1")
    assert f": ok, {days} days, " in first
    assert run("2") == first
