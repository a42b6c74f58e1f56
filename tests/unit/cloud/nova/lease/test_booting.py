"""Servers of a lease that find no host, and boots that Nova loses."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.lost import LostCommands, LostOptions
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.server import number_tag
from lease_scheduler.cloud.nova.lease.servers import Servers, WantedServer
from tests.unit.cloud.nova import fakes

_WANTED = WantedServer(0, "web", {"image_id": "image"}, "flavor", "host1")


class FullNova(Servers):
    """Nova finds a host for a server only from an instant on.

    :ivar now: seconds
    :ivar booted: number of servers that were created
    """

    def __init__(self, has_host_from: float) -> None:
        nothing: Any = SimpleNamespace(is_lost=lambda server: False)
        super().__init__(
            nothing, lambda trust_id: self._tenant, lambda each: None, 600, nothing, PciAliases(), self._time
        )
        self._has_host_from = has_host_from
        self._tenant = SimpleNamespace(servers=SimpleNamespace(create=self._create_one))
        self._present: list[Any] = []
        self.now = 0.0
        self.booted = 0

    def _time(self) -> float:
        return self.now

    def _create_one(self, *words: Any, **options: Any) -> None:
        self.booted += 1
        server = fakes.server("s", None, tags=[number_tag(0)], status="ERROR")
        server.created = datetime.now(UTC).isoformat()
        server.fault = {"message": "No valid host was found."}
        if self.now >= self._has_host_from:
            server.status = "ACTIVE"
        self._present = [server]

    def find(self, **query: str) -> list[Any]:
        return self._present

    def delete(self, servers: Any) -> bool:
        self._present = []
        return True

    def boot_for(self, seconds: float) -> bool:
        """Have the server booted, twice a second, and return whether it runs."""
        end = self.now + seconds
        while self.now < end:
            if self.boot("lease", [_WANTED], None):
                return True
            self.now += 0.5
        return False


def test_a_server_is_booted_again_until_the_scheduler_knows_the_aggregate() -> None:
    assert FullNova(has_host_from=20).boot_for(30)


def test_a_server_that_never_finds_a_host_fails() -> None:
    """Else Nova would be told to boot a server, and to delete it, every second while the lease has its hosts."""
    nova = FullNova(has_host_from=1_000)
    with pytest.raises(StepFailedError, match="No valid host was found"):
        nova.boot_for(200)
    assert 60 < nova.now < 65


def test_the_next_start_of_the_lease_begins_anew() -> None:
    nova = FullNova(has_host_from=90)
    with pytest.raises(StepFailedError):
        nova.boot_for(200)
    nova.delete([])
    assert nova.boot_for(60)


class LosingNova(FullNova):
    """Nova loses the first boots of a server: it stays in BUILD, and nothing works on it."""

    def __init__(self, times: int) -> None:
        super().__init__(has_host_from=0)
        actions = SimpleNamespace(list=lambda server: [])
        self._lost = LostCommands(
            SimpleNamespace(instance_action=actions), LostOptions(lost_after=60), clock=lambda: self.now
        )
        self._times = times

    def _create_one(self, *words: Any, **options: Any) -> None:
        super()._create_one(*words, **options)
        if self.booted <= self._times:
            server = self._present[0]
            server.id, server.status, server.updated = f"s{self.booted}", "BUILD", "2100-01-01T00:00:00Z"
            setattr(server, "OS-EXT-STS:task_state", "scheduling")


def test_a_boot_that_nova_has_lost_is_repeated_long_before_it_counts_as_failed() -> None:
    nova = LosingNova(times=1)
    assert nova.boot_for(70)
    assert nova.booted == 2


def test_boots_that_are_lost_again_and_again_fail() -> None:
    nova = LosingNova(times=100)
    with pytest.raises(StepFailedError, match="Nova has lost its boot"):
        nova.boot_for(300)
    assert (nova.booted, nova.now < 200) == (3, True)


def test_a_boot_is_not_lost_while_others_become_complete() -> None:
    """Nova boots many servers one after the other; the last of them wait for a long time, and nothing works on them."""
    nova = LosingNova(times=1)
    nova.boot("lease", [_WANTED], None)
    (waiting,) = nova._present
    for number in range(1, 20):
        server = fakes.server(f"n{number}", "host1", tags=[number_tag(number)], status="ACTIVE")
        nova._present.append(server)
        assert not nova.boot_for(10)
        assert waiting in nova._present
