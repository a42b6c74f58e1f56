"""A small part of the matrix of ``matrix_steps``, which is tried out with every change."""

from __future__ import annotations

import unittest

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.steps.sequence import REMOVAL, STEPS
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from tests.in_nova.functional import matrix_steps
from tests.in_nova.functional.matrix import MOST, TINY
from tests.in_nova.functional.matrix_steps import GuestsSite, LeaseSite
from tests.in_nova.functional.members import ACTIONS
from tests.in_nova.functional.site import HOSTS, WHOLE

#: Those that have kept a host once, or would without what the driver does about them.
_DANGEROUS = (
    "lock",
    "the longest name",
    "snapshot",
    "rescue and lock",
    "pause",
    "shelve without leaving the host",
    "resize",
    "fail and lock",
    "delete where Nova keeps it",
    "be in a reboot",
)


#: The steps of the driver that touch servers, and what tries them out: classes of ``matrix_steps``, or other modules.
_TOUCHES = {
    "vacate": ("GuestsTest", "ShelvedIntrudersTest", "MovedIntrudersTest"),
    "hold": ("GuestsTest",),
    "put-away": ("PreemptedTest",),
    "move-off": ("ReturnTest",),
    "bring-back": ("ReturnTest",),
    "follow": ("MovedTest",),
    "keep": ("EndTest",),
    "set-apart": ("EndTest",),
    "snapshot": ("EndTest",),
    "delete-servers": ("EndTest",),
    "save": ("EndTest",),
    "boot": ("test_attacks",),
    "image": ("EndTest",),
}

#: Those that touch aggregates, Placement, flavors or addresses only.
_TOUCHES_NONE = frozenset(
    {"aggregate", "enter", "addresses", "lend", "open", "close", "leave", "release", "remove", "join"}
)


class CompleteTest(unittest.TestCase):
    """Nothing is left out unnoticed. That each action has an outcome in each case is checked there."""

    def test_each_step_is_tried_out_or_touches_no_server(self) -> None:
        known = {*REMOVAL, *(step for names in STEPS.values() for step in names)}
        assert known == _TOUCHES.keys() | _TOUCHES_NONE

    def test_the_size(self) -> None:
        names = {each for classes in _TOUCHES.values() for each in classes if each.endswith("Test")}
        ways = [name for each in names for name in vars(getattr(matrix_steps, each)) if name.startswith("test_")]
        print(f"{len(ways)} ways to handle servers x {len(ACTIONS)} actions: {len(ways) * len(ACTIONS)} combinations")
        assert (len(ways), len(ACTIONS)) == (17, 40)


class DangerousGuestsTest(GuestsSite):
    actions = _DANGEROUS

    def test_a_lease_gets_a_whole_host(self) -> None:
        self.make_room(WHOLE)


class DangerousLeaseTest(LeaseSite):
    actions = _DANGEROUS

    def test_a_lease_ends(self) -> None:
        self.leave(OperationKind.STOP, mode=PreemptionMode.STOP)


class ResizedTest(GuestsSite):
    """A guest is on its way to a host, and the hypervisor that it leaves hangs."""

    def test_the_host_that_it_leaves(self) -> None:
        """The driver resets it, so its resize fails. Nova shows it elsewhere and gives its room here back to it."""
        self.use_endless()
        guests = self.boot_many(["be resizing"], self.spot, "host1")
        self.act(guests)
        self.judge(guests, "host1", self.told_to_others("host1", WHOLE))
        self.go_on()
        self.assert_others_get("host1")

    def test_the_host_to_which_it_goes(self) -> None:
        self.use_endless()
        guests = self.boot_many(["be resizing"], self.spot, "host1")
        (host3,) = self.nova.services.list(host="host3", binary="nova-compute")
        self.nova.services.disable(host3.id)
        self.act(guests)
        for resources in (WHOLE, MOST):
            error = self.told_to_others("host2", resources)
            assert isinstance(error, HostsOccupiedError), error
            assert error.servers.keys() == {"host2"}
        self.go_on()
        self.assert_others_get("host2")


class OverlappingResizesTest(LeaseSite):
    """A resize hangs, the server is reset and resized again, and that one is confirmed. Then the lease ends."""

    def setUp(self) -> None:
        super().setUp()
        self.lease_id, self.running = self.run_lease(["be resizing"])
        (self.resized,) = self.running.values()
        self.act(self.running)
        self.nova.servers.reset_state(self.resized, "active")
        self.nova.servers.resize(self.resized, self.other_size)
        self.settled(self.resized, "VERIFY_RESIZE")

    def end(self) -> None:
        """End the lease. The server, which has an ordinary flavor now, stays where it is."""
        self.done(self.due(OperationKind.STOP, self.lease_id, self.hosts, TINY))
        (server,) = self.all_servers()
        assert (server.id, self.host_of(server)) == (self.resized.id, "host3")
        self.assert_others_get("host1")

    def confirm(self) -> None:
        self.nova.servers.confirm_resize(self.resized)
        self.settled(self.resized, "ACTIVE")

    def go_on_with_the_first(self) -> None:
        """Have the first resize go on, and fail. What it still has of the old host, Nova gives back to the server."""
        self.let_go()
        self.until(lambda: self.nova.servers.get(self.resized.id).status, lambda status: status == "ERROR")

    def delete(self) -> None:
        self.remove(self.lease_id)
        self.nova.servers.delete(self.resized)
        self.until(self.all_servers, lambda servers: not servers)
        # Nova releases what a server has a little after it is deleted.
        self.until(lambda: self.used("host3")["VCPU"], lambda used: not used)
        self.driver.set_pool(HOSTS)
        self.assert_nothing_is_left()

    def test_the_first_goes_on(self) -> None:
        self.confirm()
        self.go_on_with_the_first()
        self.end()
        self.delete()

    def test_the_first_goes_on_before_the_second_is_confirmed(self) -> None:
        """Then nobody can confirm the second one any more."""
        self.go_on_with_the_first()
        self.end()
        self.delete()

    def test_the_first_never_goes_on(self) -> None:
        """As after its compute service was started anew. What the server has on its new host is left alone."""
        self.confirm()
        before = self.used("host3")
        self.end()
        assert self.used("host3") == before
        assert before["VCPU"] == 1
        self.go_on_with_the_first()
        self.delete()
