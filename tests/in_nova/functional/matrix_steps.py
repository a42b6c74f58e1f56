"""Whatever members have done to servers: leases get their hosts, or are told in time which host is occupied.

Each test tries out one way in which the driver handles servers, after each of the actions of members. It takes a minute
or more, so ``tests/functional/nova/test_matrix.py`` runs it only if asked; ``test_members`` has a small part.
"""

from __future__ import annotations

import time
from typing import Any
from unittest import mock
from uuid import uuid4

from lease_scheduler.cloud.nova import guests as guest_rules
from lease_scheduler.cloud.nova import names
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.resources import Resources
from tests.in_nova.functional.matrix import FOR_EVER, HELD_UP, MOST, PAUSE, TINY, MatrixSite
from tests.in_nova.functional.site import WHOLE


class GuestsSite(MatrixSite):
    """Servers without a lease."""

    def setUp(self) -> None:
        super().setUp()
        self.spot = self.flavor(preemptible=True)
        self.other_size = self.flavor(preemptible=True)

    def make_room(self, resources: Resources) -> None:
        """Have guests make room for a lease of another project."""

        def ending(chosen: list[str]) -> None:
            guests = self.boot_many(chosen, self.spot, "host1")
            self.act(guests)
            lease_id = str(uuid4())
            self.done(self.of_others(self.due(OperationKind.START, lease_id, ("host1",), resources)))
            self.judge(guests, "host1")
            self.remove(lease_id)
            if "nothing" in guests:
                self.come_back(guests["nothing"])

        def endless(chosen: list[str]) -> None:
            guests = self.boot_many(chosen, self.spot, "host1")
            self.act(guests)
            self.judge(guests, "host1", self.told_to_others("host1", resources))
            self.go_on()
            self.assert_others_get("host1")

        self.each_kind(ending, endless)
        self.assert_nothing_is_left()

    def come_back(self, guest: Any) -> None:
        """Check that a guest comes back whatever members do to others."""
        end = time.monotonic() + FOR_EVER
        with mock.patch.multiple(guest_rules, _FIRST_PAUSE=0.1, _LONGEST_PAUSE=0.5):
            while self.nova.servers.get(guest.id).status != "ACTIVE":
                assert time.monotonic() < end
                self.driver._look_after_servers()
                time.sleep(PAUSE)


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

    def leave(
        self,
        kind: OperationKind,
        resources: Resources = TINY,
        to: str = "host1",
        **said: Any,
    ) -> None:
        """Have the servers of a lease leave their host by an operation, and others get it.

        :param to: where the lease has its hosts by the operation
        """

        def under_way(chosen: list[str]) -> tuple[dict[str, Any], Any]:
            lease_id, servers = self.run_lease(chosen, resources, **said)
            self.act(servers)
            return servers, self.due(kind, lease_id, (to,) * len(self.hosts), resources, **said)

        def over(order: Any) -> None:
            self.assert_others_get("host1")
            self.remove(order.lease_id, order)

        def ending(chosen: list[str]) -> None:
            servers, order = under_way(chosen)
            self.done(order)
            self.judge(servers, "host1")
            over(order)

        def endless(chosen: list[str]) -> None:
            servers, order = under_way(chosen)
            self.result(order, HELD_UP)
            told = self.told_to_others("host1", WHOLE)
            self.judge(servers, "host1", told)
            if told is not None:
                assert resources is WHOLE or self.told_to_others("host1", MOST) is not None
            # Once the hypervisor goes on, so does the operation.
            self.go_on()
            again = self.due(kind, order.lease_id, order.hosts, resources, **said)
            self.done(again)
            over(again)

        self.each_kind(ending, endless)
        self.assert_nothing_is_left()

    def continue_lease(self, mode: PreemptionMode, host: str) -> None:
        """Resume a lease whose members have acted while it was put away."""

        def under_way(chosen: list[str]) -> tuple[dict[str, Any], Any]:
            lease_id, servers = self.run_lease(chosen, mode=mode)
            self.done(self.due(OperationKind.SUSPEND, lease_id, self.hosts, TINY, mode=mode))
            self.act(servers, runs=False)
            return servers, self.due(OperationKind.RESUME, lease_id, (host,) * len(chosen), TINY, mode=mode)

        def ending(chosen: list[str]) -> None:
            servers, order = under_way(chosen)
            self.assert_others_get("host1")
            self.done(order)
            self.judge_return(servers, host, None)
            self.remove(order.lease_id)
            self.assert_others_get(host)

        def endless(chosen: list[str]) -> None:
            servers, order = under_way(chosen)
            self.judge_return(servers, host, self.result(order))
            self.go_on()
            self.remove(order.lease_id)
            self.assert_others_get(host)

        self.each_kind(ending, endless)
        self.assert_nothing_is_left()


class GuestsTest(GuestsSite):
    """Servers without a lease make room."""

    def test_a_lease_gets_a_whole_host(self) -> None:
        self.make_room(WHOLE)

    def test_a_lease_gets_a_part_of_a_host(self) -> None:
        self.make_room(MOST)


class PreemptedTest(LeaseSite):
    """A lease is put away."""

    def test_stopped(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.STOP)

    def test_suspended(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.SUSPEND)

    def test_shelved(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.SHELVE)

    def test_shelved_from_a_whole_host(self) -> None:
        self.leave(OperationKind.SUSPEND, WHOLE, mode=PreemptionMode.SHELVE)


class ReturnTest(LeaseSite):
    """A lease continues; its members have acted while it was put away."""

    def test_stopped(self) -> None:
        self.continue_lease(PreemptionMode.STOP, "host1")

    def test_suspended_and_moved(self) -> None:
        self.continue_lease(PreemptionMode.SUSPEND, "host2")


class MovedTest(LeaseSite):
    """A lease moves to another host."""

    def test_moved(self) -> None:
        self.leave(OperationKind.ADJUST, to="host2")


class EndTest(LeaseSite):
    """A lease ends."""

    def test_deleted(self) -> None:
        self.leave(OperationKind.STOP, on_end="delete")

    def test_saved(self) -> None:
        self.leave(OperationKind.STOP, on_end="snapshot")

    def test_kept(self) -> None:
        self.leave(OperationKind.STOP, on_end="keep")

    def test_kept_on_the_shelf(self) -> None:
        self.leave(OperationKind.STOP, on_end="shelve")

    def test_deleted_on_a_whole_host(self) -> None:
        self.leave(OperationKind.STOP, WHOLE, on_end="delete")
