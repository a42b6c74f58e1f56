"""Whatever members have done to servers: leases get their hosts, or are told in time which host is occupied.

Each test tries out one way in which the driver handles servers, after each of the actions of members. It takes a minute
or more, so ``tests/functional/nova/test_matrix.py`` runs it only if asked; ``test_members`` has a small part.
"""

from __future__ import annotations

import time
from typing import Any
from unittest import mock
from uuid import uuid4

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.vacating import guests as guest_rules
from lease_scheduler.cloud.nova.vacating.options import IntruderAction
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.documents import ReservationRecord
from tests.in_nova.functional.matrix import FOR_EVER, HELD_UP, MOST, PAUSE, TINY, MatrixSite
from tests.in_nova.functional.members import ACTIONS
from tests.in_nova.functional.site import WHOLE

#: What Nova refuses for servers on the only host of their lease, booted with a hint of it: there is no other host.
_NO_OTHER_HOST = frozenset({"resize", "resize and revert", "be resizing"})

#: What Nova lets members do to servers that were put away, which are locked by the service.
_THOUGH_LOCKED = frozenset(
    {
        *("nothing", "lock", "lock with our reason", "as many tags as Nova takes", "our tags", "the longest name"),
        *("snapshot", "backup", "be in a snapshot", "be in a backup"),
    }
)


class GuestsSite(MatrixSite):
    """Servers without a lease.

    :cvar gives_way: whether their flavor says that they make room
    """

    gives_way = True

    def setUp(self) -> None:
        super().setUp()
        self.spot = self.flavor(preemptible=self.gives_way)
        self.other_size = self.flavor(preemptible=self.gives_way)

    def guests(self, chosen: list[str]) -> dict[str, Any]:
        """Boot servers, and have their members act."""
        # Ordinary servers can be there only from before the host came into the pool.
        self.driver.set_pool([host for host in self.pool if self.gives_way or host != "host1"])
        guests = self.boot_many(chosen, self.spot, "host1")
        self.act(guests)
        self.driver.set_pool(self.pool)
        return guests

    def make_room(self, resources: Resources) -> None:
        """Have them make room for a lease of another project."""

        def ending(chosen: list[str]) -> None:
            guests = self.guests(chosen)
            lease_id = str(uuid4())
            self.done(self.of_others(self.due(OperationKind.START, lease_id, ("host1",), resources)))
            self.judge(guests, "host1")
            self.remove(lease_id)
            if self.gives_way:
                self.come_back(guests["lock"])
            self.clean_up()
            for name in sorted(self.staying & set(self.actions)):
                self.stay(name)

        def endless(chosen: list[str]) -> None:
            guests = self.guests(chosen)
            self.judge(guests, "host1", self.told_to_others("host1", resources))
            self.go_on()
            self.assert_others_get("host1")

        self.each_kind(ending, endless)
        self.assert_nothing_is_left()

    def stay(self, name: str) -> None:
        """Check that leases are told of a server that stays by the operator's choice."""
        guests = self.guests([name])
        self.judge(guests, "host1", self.told_to_others("host1", WHOLE))

    def come_back(self, guest: Any) -> None:
        """Check that a guest comes back whatever members do to others."""
        end = time.monotonic() + FOR_EVER
        with mock.patch.multiple(guest_rules, _FIRST_PAUSE=0.1, _LONGEST_PAUSE=0.5):
            while self.nova.servers.get(guest.id).status != "ACTIVE":
                assert time.monotonic() < end
                self.driver.events.look_after_servers()
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
        before: tuple[OperationKind, ...] = (),
        **said: Any,
    ) -> None:
        """Have the servers of a lease leave their host by an operation, and others get it.

        :param to: where the lease has its hosts by the operation
        :param before: operations that come before it, once members have acted
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
            for each in before:
                self.done(self.due(each, order.lease_id, self.hosts, resources, **said))
            self.done(order)
            self.judge(servers, "host1")
            over(order)

        def endless(chosen: list[str]) -> None:
            servers, order = under_way(chosen)
            for each in before:
                self.result(self.due(each, order.lease_id, self.hosts, resources, **said), HELD_UP)
            self.result(order, HELD_UP)
            told = self.told_to_others("host1", WHOLE)
            self.judge(servers, "host1", told)
            if told is not None and resources is not WHOLE and self.told_to_others("host1", MOST) is None:
                # All that stood in the way has left since.
                self.judge(servers, "host1")
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
            self.assert_others_get("host1")
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


class ShelvedIntrudersTest(GuestsSite):
    """Ordinary servers are shelved, because the operator allows it."""

    gives_way = False
    intruders = IntruderAction.SHELVE
    #: Whoever boots an ordinary server may rely on restoring it.
    staying = frozenset({"delete where Nova keeps it"})

    def test_a_lease_gets_a_whole_host(self) -> None:
        self.make_room(WHOLE)


class MovedIntrudersTest(GuestsSite):
    """Ordinary servers are migrated, because the operator allows it."""

    gives_way = False
    intruders = IntruderAction.MIGRATE
    staying = frozenset({"delete where Nova keeps it"})

    def test_a_lease_gets_a_whole_host(self) -> None:
        self.make_room(WHOLE)


class PreemptedTest(LeaseSite):
    """A lease is put away."""

    def test_stopped(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.STOP)

    def test_suspended(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.SUSPEND)

    def test_shelved(self) -> None:
        self.leave(OperationKind.SUSPEND, mode=PreemptionMode.SHELVE)

    def test_shelved_from_a_whole_host(self) -> None:
        self.refused_by_nova = _NO_OTHER_HOST
        self.leave(OperationKind.SUSPEND, WHOLE, mode=PreemptionMode.SHELVE)


class ReturnTest(LeaseSite):
    """A lease continues; its members have acted while it was put away."""

    refused_by_nova = frozenset(ACTIONS) - _THOUGH_LOCKED

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
        self.refused_by_nova = _NO_OTHER_HOST
        self.leave(OperationKind.STOP, WHOLE, on_end="delete")

    def test_saved_before_the_end(self) -> None:
        self.refused_by_nova = _NO_OTHER_HOST
        terms = {"before_end": "snapshot", "min": 1, "max": 1}
        hosts = ReservationRecord(str(uuid4()), "physical:host", "r", terms, 1, 0, first_node=0, node_count=1)
        said: dict[str, Any] = {"reservations": (hosts,), "before_end": 1, "before_end_done": True}
        self.leave(OperationKind.STOP, WHOLE, before=(OperationKind.SNAPSHOT,), **said)
