"""Loops of what Nova lets a project do with its servers, while a lease is to get their host."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import HOST_SHARE, Resources
from tests.in_nova.functional.site import WHOLE
from tests.in_nova.functional.tenants import TenantSite

#: More than half of a host.
_LARGE = Resources({"VCPU": 2, "MEMORY_MB": 6000, "DISK_GB": 1, HOST_SHARE: 1})


class _Loop:
    """Repeats a call all the time."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._over.is_set():
            with suppress(ClientException):
                self._call()
            time.sleep(0.1)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


class ResistanceTest(TenantSite):
    """Loops of what Nova lets a project do, while a lease is to get its host."""

    def loops(self, server: Any) -> dict[str, Callable[[], Any]]:
        """Return the loops by name."""
        mine = self.tenant.servers
        return {
            "rescue": lambda: mine.rescue(server),
            "reboot": lambda: mine.reboot(server, "HARD"),
            "snapshot": lambda: mine.create_image(server, "x"),
            "lock": lambda: mine.lock(server),
            "unlock": lambda: mine.unlock(server),
            "rename": lambda: mine.update(server, name="n" * 255),
            "stop and start": lambda: (mine.stop(server), mine.start(server)),
        }

    def test_guests_are_put_away_however_busy_their_project_keeps_them(self) -> None:
        spot = self.preemptible()
        for name in ("rescue", "reboot", "snapshot", "lock", "rename"):
            guest = self.boot_tenants(spot)
            host = str(self.host_of(guest))
            lease_id = str(uuid4())
            with _Loop(self.loops(guest)[name]):
                time.sleep(0.3)
                begun = time.monotonic()
                self.carry_out(self.order(OperationKind.START, lease_id, (host,), WHOLE, late=1))
                took = time.monotonic() - begun
            found = self.settled(guest)
            print(f"{name}: {took:.1f} s, {found.status}")
            assert self.host_of(guest) is None or found.status == "SHUTOFF", name
            self.carry_out(self.order(OperationKind.STOP, lease_id, (host,), WHOLE))
            self.driver.events.look_after_servers()
            self.nova.servers.delete(guest)
            self.gone(guest)

    def test_servers_of_leases_are_put_away_however_busy_their_project_keeps_them(self) -> None:
        for name in ("rescue", "reboot", "snapshot", "unlock", "stop and start"):
            lease_id, other = str(uuid4()), str(uuid4())
            self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), _LARGE))
            server = self.boot_tenants(names.flavor_id(lease_id, 0))
            with _Loop(self.loops(server)[name]):
                time.sleep(0.3)
                begun = time.monotonic()
                self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), _LARGE, late=1))
                self.carry_out(self.order(OperationKind.START, other, ("host1",), _LARGE, late=1))
                took = time.monotonic() - begun
            print(f"{name}: {took:.1f} s, {self.settled(server).status}")
            self.carry_out(self.order(OperationKind.STOP, other, ("host1",), _LARGE))
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), _LARGE))
        self.assert_nothing_is_left()
