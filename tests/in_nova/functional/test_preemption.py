"""Servers that make room on a real Nova and Placement, in every mode, and what is done if they do not in time."""

from __future__ import annotations

import re
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import uuid4

from nova import context, objects
from nova.db.main import api as main_api
from novaclient.exceptions import BadRequest
from sqlalchemy import text

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.lost import LostOptions
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.vacating import guests as guest_rules
from lease_scheduler.cloud.nova.vacating.options import Escalation, RoomOptions
from lease_scheduler.cloud.orders import Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from tests.in_nova.functional.site import IMAGE, LIMIT, ORDINARY, POLL, SMALL, WHOLE, NovaSite

_STATUS = {PreemptionMode.STOP: "SHUTOFF", PreemptionMode.SUSPEND: "SUSPENDED"}
_PRODUCTION = Path(__file__).parents[3] / "doc" / "source" / "admin" / "production.rst"
_TEMPLATE = {"name": "job", "image_id": IMAGE, "networks": "none"}


class ModesTest(NovaSite):
    """Servers that stay on their host leave room there all the same."""

    def _lease(self, mode: PreemptionMode, resources: Resources, *hosts: str) -> tuple[str, dict[str, Any]]:
        lease_id = str(uuid4())
        said: dict[str, Any] = {"mode": mode, "servers": (_TEMPLATE,)}
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, resources, **said))
        return lease_id, said

    def statuses(self) -> set[str]:
        return {server.status for server in self.nova.servers.list()}

    def hosts(self) -> set[str | None]:
        return {self.host_of(server) for server in self.nova.servers.list()}

    def _stays(self, mode: PreemptionMode) -> None:
        lease_id, said = self._lease(mode, SMALL, "host1", "host1")
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1", "host1"), SMALL, **said))
        assert self.statuses() == {_STATUS[mode]}
        assert (self.used("host1")["VCPU"], self.used("host1")["MEMORY_MB"]) == (0, 0)
        # A lease of the whole host starts although they are still there.
        whole = str(uuid4())
        self.carry_out(self.order(OperationKind.START, whole, ("host1",), WHOLE))
        mine = self.boot(ORDINARY, scheduler_hints={"lease": whole})
        assert self.host_of(mine) == "host1"
        self.carry_out(self.order(OperationKind.STOP, whole, ("host1",), WHOLE))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1", "host1"), SMALL, **said))
        assert (self.statuses(), self.hosts()) == ({"ACTIVE"}, {"host1"})
        assert self.used("host1")["VCPU"] == 4
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host1"), SMALL, **said))
        self.assert_nothing_is_left()

    def test_stop(self) -> None:
        self._stays(PreemptionMode.STOP)

    def test_suspend(self) -> None:
        self._stays(PreemptionMode.SUSPEND)

    def test_what_was_suspended_goes_elsewhere_if_it_has_to(self) -> None:
        """Through the image store; its former slots are not forgotten."""
        lease_id, said = self._lease(PreemptionMode.SUSPEND, SMALL, "host1")
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), SMALL, **said))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2",), SMALL, **said))
        assert (self.statuses(), self.hosts()) == ({"ACTIVE"}, {"host2"})
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2",), SMALL, **said))
        self.assert_nothing_is_left()

    def test_stopped_servers_of_whole_hosts_count_nothing_either(self) -> None:
        size = Resources({"VCPU": 4, "MEMORY_MB": 2048, HOST_SHARE: WHOLE_HOST})
        lease_id, said = self._lease(PreemptionMode.STOP, size, "host3")
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host3",), size, **said))
        assert self.statuses() == {"SHUTOFF"}
        assert self.used("host3")["VCPU"] == 0
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host3",), size, **said))
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host3",), size, **said))
        self.assert_nothing_is_left()

    def test_running_servers_follow_their_lease(self) -> None:
        """Migrated live, as when an operator clears a host."""
        lease_id, said = self._lease(PreemptionMode.SHELVE, SMALL, "host1", "host2")
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host3", "host2"), SMALL, **said))
        assert (self.statuses(), self.hosts()) == ({"ACTIVE"}, {"host2", "host3"})
        assert not any(self.used("host1").values())
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host3", "host2"), SMALL, **said))
        self.assert_nothing_is_left()

    def test_servers_of_a_host_that_died_are_built_anew(self) -> None:
        lease_id, said = self._lease(PreemptionMode.SHELVE, SMALL, "host1", "host2")
        before = {server.id for server in self.nova.servers.list()}
        compute = self.computes["host1"]
        compute.stop()
        (service,) = self.nova.services.list(host="host1", binary="nova-compute")
        self.nova.services.force_down(service.id, True)
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host3", "host2"), SMALL, **said))
        assert self.hosts() == {"host2", "host3"}
        assert {server.id for server in self.nova.servers.list()} == before
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host3", "host2"), SMALL, **said))
        assert self.nova.servers.list() == []


class ThrottledTest(NovaSite):
    """One operation at a time."""

    options = DriverOptions(operations=1)

    def test_servers_take_turns(self) -> None:
        lease_id = str(uuid4())
        hosts = ("host1", "host2", "host3")
        said: dict[str, Any] = {"servers": (_TEMPLATE,)}
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL, **said))
        order = self.order(OperationKind.SUSPEND, lease_id, hosts, SMALL, **said)
        end = time.monotonic() + LIMIT
        most = 0
        while self.driver.perform(order, "put-away") is not None:
            assert time.monotonic() < end
            busy = [each for each in self.nova.servers.list() if getattr(each, "OS-EXT-STS:task_state") is not None]
            most = max(most, len(busy))
        assert most <= 1
        assert {server.status for server in self.nova.servers.list()} == {"SHELVED_OFFLOADED"}


class LostCommandsTest(NovaSite):
    """Messages to nova-compute get lost, as when the broker or the API is killed in between."""

    options = DriverOptions(lost=LostOptions(lost_after=0.5))

    def setUp(self) -> None:
        super().setUp()
        self.lease_id = str(uuid4())
        self.said: dict[str, Any] = {"servers": (_TEMPLATE,)}
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1",), SMALL, **self.said))

    def _carry_out(self, kind: OperationKind, step: str, until_lost: str, mode: PreemptionMode) -> None:
        """Carry out an operation; the first message of a kind that a step sends is lost."""
        order = self.order(kind, self.lease_id, ("host1",), SMALL, mode=mode, **self.said)
        steps = self.driver.steps(order)
        for each in steps[: steps.index(step)]:
            self._finish(order, each)
        # Nova has recorded that the server is busy.
        with mock.patch(f"nova.compute.rpcapi.ComputeAPI.{until_lost}") as lost:
            end = time.monotonic() + LIMIT
            while not lost.called:
                assert time.monotonic() < end
                self.driver.perform(order, step)
        for each in steps[steps.index(step) :]:
            self._finish(order, each)

    def _finish(self, order: Order, step: str) -> None:
        end = time.monotonic() + LIMIT
        while self.driver.perform(order, step) is not None:
            assert time.monotonic() < end
            time.sleep(POLL)

    def _status(self) -> str:
        (server,) = self.nova.servers.list()
        return str(server.status)

    def test_shelving(self) -> None:
        self._carry_out(OperationKind.SUSPEND, "put-away", "shelve_instance", PreemptionMode.SHELVE)
        assert self._status() == "SHELVED_OFFLOADED"

    def test_stopping_and_starting(self) -> None:
        """A server that was told to start is not considered running because its state was reset."""
        self._carry_out(OperationKind.SUSPEND, "put-away", "stop_instance", PreemptionMode.STOP)
        assert self._status() == "SHUTOFF"
        with mock.patch.object(self.computes["host1"].manager.driver, "reboot") as reboot:
            self._carry_out(OperationKind.RESUME, "bring-back", "start_instance", PreemptionMode.STOP)
        assert reboot.called
        assert self._status() == "ACTIVE"

    def test_deleting(self) -> None:
        self._carry_out(OperationKind.STOP, "delete-servers", "terminate_instance", PreemptionMode.SHELVE)
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def _lose_unshelving(self) -> None:
        self.carry_out(self.order(OperationKind.SUSPEND, self.lease_id, ("host1",), SMALL, **self.said))
        try:
            self._carry_out(OperationKind.RESUME, "bring-back", "unshelve_instance", PreemptionMode.SHELVE)
        except StepFailedError as error:
            assert "on no host: Nova has lost the command" in str(error), error
        else:
            raise AssertionError("it is unshelved")

    def test_unshelving(self) -> None:
        """Nova then accepts only its deletion: the operation fails, the server is saved, an operator can repair it."""
        self._lose_unshelving()
        (server,) = self.nova.servers.list()
        # It holds no host, so other leases may use it.
        self.carry_out(self.order(OperationKind.SUSPEND, self.lease_id, ("host1",), SMALL, **self.said))
        try:
            self.carry_out(self.order(OperationKind.RESUME, self.lease_id, ("host1",), SMALL, **self.said))
        except StepFailedError as error:
            assert "on no host: Nova has lost the command" in str(error), error
        else:
            raise AssertionError("it is unshelved")
        # Whether the host had begun, does not matter.
        for task in ("unshelving", "spawning"):
            with self._cell() as cell:
                instance = objects.Instance.get_by_uuid(cell, server.id)
                instance.task_state = task
                instance.save()
            self._free_as_documented(server.id)
            with self._cell() as cell:
                assert objects.Instance.get_by_uuid(cell, server.id).task_state is None, task
        self.carry_out(self.order(OperationKind.RESUME, self.lease_id, ("host1",), SMALL, **self.said))
        (again,) = self.nova.servers.list()
        assert (again.id, again.status) == (server.id, "ACTIVE")

    def _cell(self) -> AbstractContextManager[Any]:
        found: AbstractContextManager[Any] = context.target_cell(
            context.get_admin_context(), self.cell_mappings["cell1"]
        )
        return found

    def _free_as_documented(self, server: str) -> None:
        (statement,) = re.findall(r"^ *(UPDATE instances SET .*?;)$", _PRODUCTION.read_text(), re.MULTILINE | re.DOTALL)
        with self._cell() as cell, main_api.get_engine(context=cell).begin() as connection:
            connection.execute(text(statement.replace("SERVER", server)))

    def test_the_end_of_a_lease_while_unshelving(self) -> None:
        self._lose_unshelving()
        self.carry_out(Removal(1, self.lease_id))
        self.assert_nothing_is_left()


class EscalationTest(NovaSite):
    """The image store accepts nothing: shelving fails again and again."""

    options = DriverOptions(room=RoomOptions(Escalation.DELETE, escalate_after=10))

    def setUp(self) -> None:
        super().setUp()
        self.lease_id = str(uuid4())
        self.said: dict[str, Any] = {"servers": (_TEMPLATE,)}
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1",), SMALL, **self.said))

    def _suspend(self, late: int) -> int | None:
        order = self.order(OperationKind.SUSPEND, self.lease_id, ("host1",), SMALL, late=late, **self.said)
        return self.driver.perform(order, "put-away")

    def _until(self, status: str, late: int) -> None:
        end = time.monotonic() + LIMIT
        while self.nova.servers.list()[0].status != status:
            assert time.monotonic() < end
            self._suspend(late)
            time.sleep(POLL)

    def test_what_is_late_is_switched_off(self) -> None:
        self._until("SHUTOFF", 15)
        assert self._suspend(15) is None
        # And it is resumed.
        self.carry_out(self.order(OperationKind.RESUME, self.lease_id, ("host1",), SMALL, **self.said))
        assert self.nova.servers.list()[0].status == "ACTIVE"

    def test_what_is_too_late_is_given_up(self) -> None:
        try:
            self._suspend(25)
        except StepFailedError as error:
            assert (error.host, "made no room in time" in str(error), error.gives_up) == ("host1", True, True)
        else:
            raise AssertionError("it has 10 s, and as long again to be switched off")

    def test_a_server_of_no_lease_is_deleted_when_it_is_too_late(self) -> None:
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        spot = self.boot(preemptible.id)
        host = str(self.host_of(spot))
        late = self.order(OperationKind.START, str(uuid4()), (host,), WHOLE, late=25)
        assert self.driver.perform(late, "aggregate") is None
        end = time.monotonic() + LIMIT
        while any(server.id == spot.id for server in self.nova.servers.list()):
            assert time.monotonic() < end
            self.driver.perform(late, "vacate")
            time.sleep(POLL)


class GuestsTest(NovaSite):
    """Servers without a lease that use the pool while no lease needs it."""

    def test_they_make_room_and_come_back(self) -> None:
        """A host with 7,680 MB has three guests of 2,000 MB; a lease that shares it needs 4,000 MB there."""
        preemptible = self.nova.flavors.create("spot", 2000, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        lease_id = str(uuid4())
        self.driver.set_pool(["host1"])
        for host in ("host2", "host3"):
            (service,) = self.nova.services.list(host=host, binary="nova-compute")
            self.nova.services.disable(service.id)
        guests = []
        for _ in range(3):
            guests.append(self.boot(preemptible.id))
            # Nova reports creation times in whole seconds, and the youngest server has to go.
            time.sleep(1.1)
        assert {self.host_of(guest) for guest in guests} == {"host1"}
        size = Resources({"VCPU": 2, "MEMORY_MB": 2000, HOST_SHARE: 1})
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host1"), size))
        # The youngest server goes, and no more than necessary.
        statuses = [self.nova.servers.get(guest.id).status for guest in guests]
        assert statuses == ["ACTIVE", "SHELVED_OFFLOADED", "SHELVED_OFFLOADED"], statuses
        with mock.patch.multiple(guest_rules, _FIRST_PAUSE=0.1, _LONGEST_PAUSE=0.5):
            for _ in range(20):
                self.driver._vacating.guests.bring_back()
                time.sleep(0.1)
            assert self.nova.servers.get(guests[2].id).status == "SHELVED_OFFLOADED", "there is no room yet"
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host1"), size))
            end = time.monotonic() + LIMIT
            while any(self.nova.servers.get(guest.id).status != "ACTIVE" for guest in guests):
                assert time.monotonic() < end
                self.driver._vacating.guests.bring_back()
                time.sleep(0.2)
            self.driver._vacating.guests.bring_back()
        assert all(guest_rules.TAG not in self.nova.servers.get(guest.id).tags for guest in guests)

    def test_one_that_cannot_be_shelved_outlives_a_lease_of_its_own_project(self) -> None:
        """It is stopped on the host that the lease gets, but does not belong to the lease."""
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        guest = self.boot(preemptible.id)
        host, lease_id = str(self.host_of(guest)), str(uuid4())
        refuses = mock.patch.object(self.nova.servers, "shelve", side_effect=BadRequest(400, "not supported"))
        with refuses:
            self.carry_out(self.order(OperationKind.START, lease_id, (host,), WHOLE))
        assert self.nova.servers.get(guest.id).status == "SHUTOFF"
        self.carry_out(self.order(OperationKind.STOP, lease_id, (host,), WHOLE))
        end = time.monotonic() + LIMIT
        with mock.patch.multiple(guest_rules, _FIRST_PAUSE=0.1, _LONGEST_PAUSE=0.5):
            while self.nova.servers.get(guest.id).status != "ACTIVE":
                assert time.monotonic() < end
                self.driver._vacating.guests.bring_back()
                time.sleep(POLL)


class BootTimeoutTest(NovaSite):
    """A server that is not active in time has failed."""

    options = DriverOptions(boot_timeout=0)

    def test_it_is_named(self) -> None:
        self.flags(compute_driver="fake.MediumFakeDriver")
        slow = self.computes["host1"].manager.driver
        spawn = slow.spawn

        def spawn_slowly(*arguments: Any, **options: Any) -> Any:
            time.sleep(2)
            return spawn(*arguments, **options)

        slow.spawn = spawn_slowly
        order = self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, servers=(_TEMPLATE,))
        for step in ("aggregate", "vacate", "hold"):
            assert self.driver.perform(order, step) is None
        self.driver.perform(order, "boot")
        time.sleep(1)
        try:
            self.driver.perform(order, "boot")
        except StepFailedError as error:
            assert "is not there after 0 s" in str(error)
        else:
            raise AssertionError("it takes two seconds")
