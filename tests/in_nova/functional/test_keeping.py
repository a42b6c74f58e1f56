"""Servers that outlive their lease, on a real Nova and Placement."""

from __future__ import annotations

import time
from typing import Any
from unittest import mock
from uuid import uuid4

from lease_scheduler.cloud.nova.vacating import outliving as keeping
from lease_scheduler.cloud.orders import Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from tests.in_nova.functional.site import IMAGE, LIMIT, ORDINARY, SMALL, NovaSite

_TEMPLATE = {"name": "job", "image_id": IMAGE, "networks": "none"}

#: A private flavor of the lease beside larger ordinary ones.
_LARGE_ENOUGH = "just-right"


class KeepingTest(NovaSite):
    """One of the three hosts is outside the pool."""

    def setUp(self) -> None:
        super().setUp()
        self.driver.set_pool(["host1", "host2"])
        self.lease_id = str(uuid4())
        self.nova.flavors.create(_LARGE_ENOUGH, 1024, 2, 1)
        # Nobody shall get more than the size of a server: their ids come first in the order of flavors.
        for number, more in enumerate(
            (
                {"lease:preemptible": "true"},
                {"resources:VGPU": "1"},
                {"resources_GPU:VGPU": "1"},
                {"pci_passthrough:alias": "a100:1"},
            )
        ):
            self.nova.flavors.create(f"more-{number}", 1024, 2, 1, flavorid=f"-{number}").set_keys(more)

    def _live_through(self, on_end: str, size: Resources, *hosts: str, template: bool = True) -> list[str]:
        """Run a lease to its end and return the ids of its servers."""
        said: dict[str, Any] = {"servers": (_TEMPLATE,) if template else (), "on_end": on_end}
        self.carry_out(self.order(OperationKind.START, self.lease_id, hosts, size, **said))
        if not template:
            assert self.host_of(self.boot(ORDINARY, scheduler_hints={"lease": self.lease_id})) == hosts[0]
        before = [server.id for server in self.nova.servers.list()]
        order = self.order(OperationKind.STOP, self.lease_id, hosts, size, **said)
        self.carry_out(order)
        self.carry_out(Removal(2, self.lease_id, order.document, is_over=True))
        return before

    def _assert_ordinary(self, ids: list[str], status: str, host: str | None) -> None:
        end = time.monotonic() + LIMIT
        while any(server.status != status for server in self.nova.servers.list()):
            assert time.monotonic() < end
            time.sleep(0.1)
        found = self.nova.servers.list()
        assert {server.id for server in found} == set(ids)
        for server in found:
            assert (server.status, self.host_of(server), server.tags) == (status, host, [])
            assert server.flavor["original_name"] == _LARGE_ENOUGH

    def test_kept(self) -> None:
        """They are the same servers, run where ordinary servers run, and are counted there."""
        before = self._live_through("keep", SMALL, "host1", "host2")
        self._assert_ordinary(before, "ACTIVE", "host3")
        assert (self.used("host3")["VCPU"], self.used("host1")["VCPU"], self.used("host2")["VCPU"]) == (4, 0, 0)
        for server_id in before:
            self.nova.servers.delete(server_id)
        end = time.monotonic() + LIMIT
        while self.nova.servers.list():
            assert time.monotonic() < end
            time.sleep(0.1)
        self.assert_nothing_is_left()

    def test_kept_off_a_whole_host(self) -> None:
        whole = Resources({"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 1, HOST_SHARE: WHOLE_HOST})
        before = self._live_through("keep", whole, "host2")
        self._assert_ordinary(before, "ACTIVE", "host3")

    def test_shelved(self) -> None:
        """Nova unshelves them like others."""
        before = self._live_through("shelve", SMALL, "host1")
        self._assert_ordinary(before, "SHELVED_OFFLOADED", None)
        (server,) = self.nova.servers.list()
        self.nova.servers.unshelve(server)
        end = time.monotonic() + LIMIT
        while self.host_of(server) is None:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert self.host_of(server) == "host3"

    def test_no_room(self) -> None:
        """An image is made of them instead, so no work is lost."""
        self.driver.set_pool(["host1", "host2", "host3"])
        images = {image["id"] for image in self.glance.detail(None)}
        with mock.patch.object(keeping, "_ATTEMPTS", 1):
            (server_id,) = self._live_through("keep", SMALL, "host1")
        assert self.nova.servers.list() == []
        (made,) = [image for image in self.glance.detail(None) if image["id"] not in images]
        assert made["name"] == f"job-{server_id}"
        self.assert_nothing_is_left()

    def test_what_was_booted_with_a_hint(self) -> None:
        """Nova would keep it on hosts of the lease, which has none any more."""
        images = {image["id"] for image in self.glance.detail(None)}
        whole = Resources({HOST_SHARE: WHOLE_HOST})
        self._live_through("keep", whole, "host1", template=False)
        assert self.nova.servers.list() == []
        assert len({image["id"] for image in self.glance.detail(None)} - images) == 1
