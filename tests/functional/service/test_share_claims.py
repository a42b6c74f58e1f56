"""A live engine that suspends leases for shares, while its clock is set (shirako F105)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

#: A lease may be suspended after this time.
_LEAST_RUN = HOUR

#: A lease takes all VCPUs of its host, but not all of its memory, so both hosts are little more than half of the site.
_OPTIONS = {"winks_preempt_after": str(_LEAST_RUN), "winks_preempt_excess": "0"}

_LOST = ("failed", "cancelled", "rejected")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Two hosts; each project is entitled to one of them."""
    made = Service(tmp_path, "free", _OPTIONS, queueing="winks")
    yield made
    made.close()


class _Projects:
    """The leases of two projects, of one host each, for ten hours.

    :ivar leases: ids of the leases of each project, in the order of submission
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.leases: dict[str, list[str]] = {"red": [], "blue": []}
        self._names = count(1)

    def queue(self, project: str, hours: int = 10) -> str:
        document = self.service.document(1, kind="best-effort", project_id=project, duration=hours * HOUR)
        self.leases[project].append(str(self.service.leases.create({}, document)["lease_id"]))
        return self.leases[project][-1]

    def states(self) -> dict[str, list[str]]:
        return {project: [self._state(each) for each in leases] for project, leases in self.leases.items()}

    def _state(self, lease_id: str) -> str:
        """Return the state of a lease; with the default backfilling, one that was suspended has a place ahead."""
        return str(self.service.view(lease_id)["state"]).removesuffix("-scheduled").removesuffix("-queued")

    def become(self, **states: list[str]) -> None:
        assert wait_until(lambda: self.states() == states, 30), self.states()

    def become_all_done(self) -> None:
        """Let the clock go on until all leases have ended, with time for the engine to do what is due."""
        for _ in range(80):
            if all(state == "done" for states in self.states().values() for state in states):
                return
            self.service.clock.jump(HOUR // 2)
            time.sleep(0.5)
            assert wait_until(self._nothing_is_due, 30), self.states()
        raise AssertionError(self.states())

    def _nothing_is_due(self) -> bool:
        site = self.service.site
        with site.lock:
            due, is_working = site.next_due(), bool(site.engine.operations)
        return not is_working and (due is None or due > self.service.clock.now())

    def flows(self) -> dict[str, dict[str, Any]]:
        return {flow["name"]: flow for flow in self.service.flows.list({})["flows"]}

    def nothing_is_lost(self) -> None:
        """Each lease is there, none has lost work, and no two of them have the same host."""
        for project, leases in self.leases.items():
            for each in leases:
                assert self.service.view(each)["state"] not in _LOST, (project, self.states())
                history = [entry["to"] for entry in self.service.reader.history(each)]
                lost = [
                    place for place, state in enumerate(history) if state == "queued" and "active" in history[:place]
                ]
                assert not lost, history


@pytest.fixture
def projects(service: Service) -> _Projects:
    """One project has both hosts, and another one waits."""
    made = _Projects(service)
    made.queue("red"), made.queue("red")
    made.become(red=["active", "active"], blue=[])
    made.queue("blue")
    made.become(red=["active", "active"], blue=["queued"])
    return made


def test_a_jump_ahead_gives_a_share_at_once(service: Service, projects: _Projects) -> None:
    """The least run is over by the clock: the lease that came last is suspended, and has kept what it has done."""
    service.clock.jump(_LEAST_RUN + 60)
    projects.become(red=["active", "suspended"], blue=["active"])
    projects.nothing_is_lost()
    suspended = service.view(projects.leases["red"][1])
    assert _LEAST_RUN <= suspended["accumulated"] <= _LEAST_RUN + 120

    # Both have their shares now: another jump suspends nothing, and what one is owed stays.
    owed = {name: flow["behind"] for name, flow in projects.flows().items()}
    service.clock.jump(2 * _LEAST_RUN)
    projects.become(red=["active", "suspended"], blue=["active"])
    assert {name: flow["behind"] for name, flow in projects.flows().items()} == owed


def test_a_jump_back_suspends_nothing_and_loses_nothing(service: Service, projects: _Projects) -> None:
    """The least run is not over for as long as the clock says; then the share is given, once."""
    service.clock.jump(-HOUR // 2)
    projects.queue("blue")
    time.sleep(3.0)
    assert projects.states() == {"red": ["active", "active"], "blue": ["queued", "queued"]}
    assert projects.flows()["blue"]["behind"] > 0

    service.clock.jump(HOUR // 2 + _LEAST_RUN + 60)
    projects.become(red=["active", "suspended"], blue=["active", "queued"])
    projects.nothing_is_lost()


@pytest.mark.parametrize("jumps", [(2 * HOUR, -HOUR, 4 * HOUR), (-HOUR, 3 * HOUR, -HOUR // 2, 3 * HOUR)])
def test_after_any_jumps_and_a_restart_both_get_their_shares(
    service: Service, projects: _Projects, jumps: tuple[int, ...]
) -> None:
    """Ahead and back, with another engine in between: all leases end, and each has run for its whole duration.

    What a clock that was set back has shown twice, it may have run twice: what was promised lasts as long as it says.
    """
    for seconds in jumps:
        service.clock.jump(seconds)
        projects.queue("red", hours=1), projects.queue("blue", hours=1)
        service.restart()
        projects.nothing_is_lost()
    projects.become_all_done()
    projects.nothing_is_lost()
    shown_twice = -sum(each for each in jumps if each < 0)
    for project, leases in projects.leases.items():
        for number, each in enumerate(leases):
            hours = 10 if number < (2 if project == "red" else 1) else 1
            ran = service.view(each)["accumulated"]
            assert hours * HOUR <= ran <= hours * HOUR + shown_twice + 60, (project, number)
    assert {flow["queued"] for flow in projects.flows().values()} == {0}
