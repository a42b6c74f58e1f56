"""Servers of a lease that find no host."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.server import number_tag
from lease_scheduler.cloud.nova.servers import Servers, WantedServer
from tests.unit.cloud.nova import fakes

_WANTED = WantedServer(0, "web", {"image_id": "image"}, "flavor", "host1")


class FullNova(Servers):
    """Nova finds a host for a server only from an instant on.

    :ivar now: seconds
    :ivar booted: number of servers that were created
    """

    def __init__(self, has_host_from: float) -> None:
        nothing: Any = SimpleNamespace()
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
