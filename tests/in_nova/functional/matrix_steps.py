"""Whatever members have done to servers, leases get their hosts, or steps end in time and name the host.

Not collected yet: the module is to be called test_matrix once all of it has been run and succeeds.
"""

from __future__ import annotations

import time
import unittest
from typing import Any
from unittest import mock
from uuid import uuid4

from lease_scheduler.cloud.nova import guests as guest_rules
from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.steps import _REMOVAL, _STEPS
from lease_scheduler.cloud.orders import Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.resources import HOST_SHARE, Resources
from tests.in_nova.functional.matrix import FOR_EVER, PAUSE, TINY, MatrixSite
from tests.in_nova.functional.site import WHOLE

#: Nearly all of a host.
_MOST = Resources({"VCPU": 2, "MEMORY_MB": 7660, "DISK_GB": 1, HOST_SHARE: 1})

#: The steps of the driver that touch servers, and what tries them out: a class of this module, or another module.
_TOUCHES = {
    "vacate": "GuestsTest",
    "hold": "GuestsTest",
    "put-away": "PreemptedTest",
    "move-off": "ReturnTest",
    "bring-back": "ReturnTest",
    "follow": "MovedTest",
    "keep": "EndTest",
    "set-apart": "EndTest",
    "snapshot": "EndTest",
    "delete-servers": "EndTest",
    "save": "EndTest",
    "boot": "test_attacks",
    "image": "test_saving",
}

#: Those that touch aggregates, Placement, flavors or addresses only.
_TOUCHES_NONE = frozenset(
    {"aggregate", "enter", "addresses", "lend", "open", "close", "leave", "release", "remove", "join"}
)


class CompleteTest(unittest.TestCase):
    """Nothing is left out unnoticed. That each action has an outcome in each test is checked there."""

    def test_each_step_is_tried_out_or_touches_no_server(self) -> None:
        known = {*_REMOVAL, *(step for names in _STEPS.values() for step in names)}
        assert known == _TOUCHES.keys() | _TOUCHES_NONE


class GuestsTest(MatrixSite):
    """Servers without a lease."""

    def setUp(self) -> None:
        super().setUp()
        self.spot = self.flavor(preemptible=True)
        self.other_size = self.flavor(preemptible=True)

    def make_room(self, resources: Resources) -> None:
        def try_out(chosen: list[str]) -> None:
            guests = self.boot_many(chosen, self.spot, "host1")
            self.act(guests)
            lease_id = str(uuid4())
            order = self.of_others(self.due(OperationKind.START, lease_id, ("host1",), resources))
            self.judge(guests, "host1", self.tried(order))
            self.remove(lease_id)
            if "nothing" in guests:
                self.come_back(guests["nothing"])

        self.each_kind(try_out)
        self.assert_nothing_is_left()

    def come_back(self, guest: Any) -> None:
        """Check that a guest comes back whatever members do to others."""
        end = time.monotonic() + FOR_EVER
        with mock.patch.multiple(guest_rules, _FIRST_PAUSE=0.1, _LONGEST_PAUSE=0.5):
            while self.nova.servers.get(guest.id).status != "ACTIVE":
                assert time.monotonic() < end
                self.driver._look_after_servers()
                time.sleep(PAUSE)

    def test_a_lease_gets_a_whole_host(self) -> None:
        self.make_room(WHOLE)

    def test_a_lease_gets_a_part_of_a_host(self) -> None:
        self.make_room(_MOST)


class LeaseSite(MatrixSite):
    """Servers of a lease."""

    def setUp(self) -> None:
        super().setUp()
        self.other_size = self.flavor(preemptible=False)

    def run_lease(self, chosen: list[str], resources: Resources = TINY, **said: Any) -> tuple[str, dict[str, Any]]:
        """Start a lease and boot its servers. Return its id and the servers."""
        lease_id = str(uuid4())
        self.hosts = ("host1",) * (len(chosen) if resources is TINY else 1)
        self.done(self.due(OperationKind.START, lease_id, self.hosts, resources, **said))
        if resources is TINY:
            return lease_id, self.boot_many(chosen, names.flavor_id(lease_id, 0))
        return lease_id, self.boot_many(chosen, self.other_size, lease=lease_id)


class PreemptedTest(LeaseSite):
    """A lease is put away."""

    def put_away(self, mode: PreemptionMode, resources: Resources = TINY) -> None:
        def try_out(chosen: list[str]) -> None:
            lease_id, servers = self.run_lease(chosen, resources, mode=mode)
            self.act(servers)
            order = self.due(OperationKind.SUSPEND, lease_id, self.hosts, resources, mode=mode)
            self.judge(servers, "host1", self.tried(order))
            if not self.succeeds:
                # What the engine does if it gives the lease up.
                self.remove(lease_id)
            self.assert_others_get("host1")
            if self.succeeds:
                self.remove(lease_id)

        self.each_kind(try_out)
        self.assert_nothing_is_left()

    def test_stopped(self) -> None:
        self.put_away(PreemptionMode.STOP)

    def test_suspended(self) -> None:
        self.put_away(PreemptionMode.SUSPEND)

    def test_shelved(self) -> None:
        self.put_away(PreemptionMode.SHELVE)

    def test_shelved_from_a_whole_host(self) -> None:
        self.put_away(PreemptionMode.SHELVE, WHOLE)


class ReturnTest(LeaseSite):
    """A lease continues; its members have acted while it was put away."""

    def continue_lease(self, mode: PreemptionMode, host: str) -> None:
        def try_out(chosen: list[str]) -> None:
            lease_id, servers = self.run_lease(chosen, mode=mode)
            self.done(self.due(OperationKind.SUSPEND, lease_id, self.hosts, TINY, mode=mode))
            self.act(servers, runs=False)
            self.assert_others_get("host1")
            hosts = (host,) * len(chosen)
            order = self.due(OperationKind.RESUME, lease_id, hosts, TINY, mode=mode)
            self.judge_return(servers, host, self.tried(order))
            self.remove(lease_id)
            self.assert_others_get(host)

        self.each_kind(try_out)
        self.assert_nothing_is_left()

    def test_stopped(self) -> None:
        self.continue_lease(PreemptionMode.STOP, "host1")

    def test_suspended_and_moved(self) -> None:
        self.continue_lease(PreemptionMode.SUSPEND, "host2")


class MovedTest(LeaseSite):
    """A lease moves to another host."""

    def test_moved(self) -> None:
        def try_out(chosen: list[str]) -> None:
            lease_id, servers = self.run_lease(chosen)
            self.act(servers)
            order = self.due(OperationKind.ADJUST, lease_id, ("host2",) * len(chosen), TINY)
            self.judge(servers, "host1", self.tried(order))
            if not self.succeeds:
                self.remove(lease_id)
            self.assert_others_get("host1")
            if self.succeeds:
                self.remove(lease_id)

        self.each_kind(try_out)
        self.assert_nothing_is_left()


class EndTest(LeaseSite):
    """A lease ends."""

    def end(self, on_end: str, resources: Resources = TINY) -> None:
        def try_out(chosen: list[str]) -> None:
            lease_id, servers = self.run_lease(chosen, resources, on_end=on_end)
            self.act(servers)
            order = self.due(OperationKind.STOP, lease_id, self.hosts, resources, on_end=on_end)
            self.done(order)
            self.judge(servers, "host1", None)
            self.assert_others_get("host1")
            self.done(Removal(2, lease_id, order.document, is_over=True))

        self.each_kind(try_out)
        self.assert_nothing_is_left()

    def test_deleted(self) -> None:
        self.end("delete")

    def test_saved(self) -> None:
        self.end("snapshot")

    def test_kept(self) -> None:
        self.end("keep")

    def test_kept_on_the_shelf(self) -> None:
        self.end("shelve")

    def test_deleted_on_a_whole_host(self) -> None:
        self.end("delete", WHOLE)
