"""Two engines on one database, with a power policy: only the one that leads switches hosts, and each host once."""

from __future__ import annotations

import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.lease_document import lease_document
from tests.functional.service.programs import CONTEXT, LIMIT, Programs, insist
from tests.servers.base import wait_until

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: It records who called it, acts after a second, and ends another one later. A host that is on already stays on: an
#: engine that takes over tells each host once, whatever its driver says. Only what has changed a host is "done".
_SCRIPT = """#!/bin/sh
case "$1" in
status) test -e "{folder}/off-$2" && echo off || echo on; exit 0 ;;
esac
echo "$PPID begin $1 $2" >> "{folder}/switched"
sleep 1
if [ "$1" = off ]; then what=mkdir; else what=rmdir; fi
$what "{folder}/off-$2" 2> /dev/null && echo "$PPID done $1 $2" >> "{folder}/switched"
sleep 1
"""

_HOSTS = [f"compute-{number}" for number in (1, 2, 3)]


class _Site:
    """Two engines whose policy lets every host sleep that no lease needs."""

    def __init__(self, folder: Path, database_url: str, transport_url: str) -> None:
        self._folder = folder
        script = folder / "host-power"
        script.write_text(_SCRIPT.format(folder=folder))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        lines = (
            "[scheduling]\npolicy_power = sesp\n"
            f"[power]\ndriver = script\nscript = {script}\nwake_time = 10\nwake_margin = 5\nshutdown_time = 5\n"
            "minimum_on_time = 0\nsleep_horizon = 60\ndecision_interval = 2\npoll_interval = 0.5\n"
        )
        self.programs = Programs(folder, database_url, transport_url, hosts=len(_HOSTS), lines=lines)
        self.engines = [self.programs.engine("one"), self.programs.engine("two")]
        self.client = self.programs.client(timeout=3.0)
        self._leaders: list[int] = []
        self.programs.register(self.client)

    def switched(self, stage: str, command: str) -> list[tuple[int, str]]:
        """Return the calling process and the host of each call of the script that has reached a stage."""
        file = self._folder / "switched"
        entries = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        return [(int(pid), host) for pid, reached, said, host in entries if (reached, said) == (stage, command)]

    def kill_the_leader(self) -> None:
        """Kill the engine that leads, with the scripts that it runs, and start another one in its place."""
        (leads,) = (each for each in self.engines if "this engine leads" in self.programs.log(each))
        self._leaders.append(self.programs.leader_pid())
        leads.kill()
        self.engines.remove(leads)
        self.engines.append(self.programs.engine(f"engine-{len(self._leaders)}"))

    def led(self) -> set[int]:
        """Return the processes that have led."""
        return {*self._leaders, self.programs.leader_pid()}

    def recorded(self) -> set[str]:
        """Return which states of power are recorded for the hosts."""
        powers = [host["power"] for host in self.programs.reader.hosts()]
        return {"awake" if power is None else str(power.state.value) for power in powers}

    def are_off(self) -> set[str]:
        return {host for host in _HOSTS if (self._folder / f"off-{host}").exists()}


@pytest.fixture
def site(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[_Site]:
    made = _Site(tmp_path, mariadb_url, rabbitmq_url)
    yield made
    made.programs.close()


@pytest.mark.parametrize("stage", ["begin", "done"])
def test_a_takeover_in_the_middle_of_off_and_of_on(site: _Site, stage: str) -> None:
    """Killed while a host is being switched, before or after that took effect: each ends in the recorded state."""
    assert wait_until(lambda: bool(site.switched(stage, "off")), LIMIT)
    site.kill_the_leader()
    assert wait_until(lambda: site.recorded() == {"asleep"} and site.are_off() == set(_HOSTS), LIMIT), site.recorded()

    start = int(time.time()) + 45
    lease = lease_document("wakes all", "reservation", len(_HOSTS), start=start, end=start + 600)
    insist(lambda: site.client.create_lease(CONTEXT, lease))
    assert wait_until(lambda: bool(site.switched(stage, "on")), LIMIT)
    site.kill_the_leader()
    assert wait_until(lambda: site.recorded() == {"awake"}, LIMIT), site.recorded()
    assert site.are_off() == set()
    assert wait_until(lambda: site.programs.state(lease) == "active", LIMIT), site.programs.state(lease)
    view = site.programs.reader.lease(lease["id"])
    assert view is not None
    assert view["started"] <= start + 2 and view["breaches"] == []

    for command in ("off", "on"):
        # The state of each host has changed only once, whoever had begun with it. A script that was killed just after
        # it had changed a host has not recorded that.
        assert set(Counter(host for _, host in site.switched("done", command)).values()) == {1}
        assert {pid for pid, _ in site.switched("begin", command)} <= site.led()
