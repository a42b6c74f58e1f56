"""Projects that try to keep, or to take back, what others are to have: by everything that Nova lets them do."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from novaclient.exceptions import ClientException, Conflict

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.locks import REASON
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.kinds import PreemptionMode
from tests.in_nova.functional.site import IMAGE, LIMIT, ORDINARY, POLL, SMALL, WHOLE
from tests.in_nova.functional.tenants import TenantSite


class SleepersTest(TenantSite):
    """Servers that were stopped or suspended to make room are not started again by their project (oversubscription)."""

    def put_away(self, mode: PreemptionMode) -> tuple[str, Any]:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL, mode))
        server = self.boot_tenants(names.flavor_id(lease_id, 0))
        assert self.host_of(server) == "host1"
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), SMALL, mode))
        return lease_id, self.nova.servers.get(server.id)

    def test_what_is_put_away_stays_so_until_its_lease_continues(self) -> None:
        for mode, wake in ((PreemptionMode.SUSPEND, "resume"), (PreemptionMode.STOP, "start")):
            lease_id, server = self.put_away(mode)
            assert server.locked
            mine = self.tenant.servers.get(server.id)
            for call in (getattr(mine, wake), mine.unlock, mine.delete, lambda mine=mine: mine.reboot("HARD")):
                with pytest.raises(ClientException):
                    call()
            self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1",), SMALL, mode))
            found = self.settled(server, "ACTIVE")
            assert not found.locked
            mine.delete()
            self.gone(server)
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))

    def test_one_that_runs_all_the_same_is_put_away_again(self) -> None:
        """An administrator has started it, or an engine that was killed has not locked it."""
        lease_id, server = self.put_away(PreemptionMode.SUSPEND)
        self.driver.events.look_after_servers()
        for wake in (self.nova.servers.resume, self.nova.servers.start):
            wake(server)
            self.nova.servers.unlock(server)
            self.settled(server, "ACTIVE")
            end = time.monotonic() + LIMIT
            while self.nova.servers.get(server.id).status == "ACTIVE":
                assert time.monotonic() < end, "it runs beside the leases that have its room"
                self.driver.events.look_after_servers()
                time.sleep(POLL)
            found = self.settled(server, "SHUTOFF")
            assert found.locked
        # Another engine, which knows nothing of it.
        self.driver = self.new_driver(self.options)
        self.nova.servers.unlock(server)
        self.driver.events.look_after_servers()
        assert self.nova.servers.get(server.id).locked
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1",), SMALL))
        assert not self.settled(server, "ACTIVE").locked

    def test_the_lock_of_its_project_is_neither_a_way_to_resist_nor_lost(self) -> None:
        self.trustor = self.tenant
        for reason in ("do not touch", REASON, None):
            lease_id = str(uuid4())
            start = self.order(OperationKind.START, lease_id, ("host1",), SMALL, PreemptionMode.STOP, trust_id="t")
            self.carry_out(start)
            server = self.boot_tenants(names.flavor_id(lease_id, 0))
            self.tenant.servers.lock(server, reason=reason)
            said: dict[str, Any] = {"mode": PreemptionMode.STOP, "trust_id": "t"}
            self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), SMALL, **said))
            assert self.settled(server).status == "SHUTOFF"
            for call in (self.tenant.servers.unlock, self.tenant.servers.start):
                with pytest.raises(ClientException):
                    call(server)
            self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1",), SMALL, **said))
            found = self.settled(server, "ACTIVE")
            if reason != REASON:
                assert (found.locked, found.locked_reason) == (True, reason)
                self.tenant.servers.unlock(server)
            server.delete()
            self.gone(server)
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))

    def test_the_lock_of_an_operator_stays(self) -> None:
        lease_id = str(uuid4())
        mode = PreemptionMode.STOP
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL, mode))
        server = self.boot_tenants(names.flavor_id(lease_id, 0))
        self.nova.servers.lock(server, reason="evidence")
        for kind in (OperationKind.SUSPEND, OperationKind.RESUME):
            self.carry_out(self.order(kind, lease_id, ("host1",), SMALL, mode))
            found = self.nova.servers.get(server.id)
            assert (found.locked, found.locked_reason) == (True, "evidence")


class FailuresTest(TenantSite):
    """Servers in states and with names and tags that keep Nova from doing what it is told."""

    def test_a_failed_guest_on_a_host_that_a_lease_has(self) -> None:
        """It came there after the host was vacated, and failed then."""
        spot = self.preemptible()
        guest = self.boot_tenants(spot)
        host = str(self.host_of(guest))
        self.nova.servers.reset_state(guest, "error")
        end = time.monotonic() + LIMIT
        while self.host_of(guest) is not None:
            assert time.monotonic() < end, "it stays"
            for server in self.driver._common.servers.find(uuid=guest.id):
                self.driver._vacating.preemption.send_away(server, "another lease")
            time.sleep(POLL)
        assert not any(self.used(host).values())

    def test_a_lease_with_a_server_that_found_no_host_is_put_away(self) -> None:
        """Its project has booted one more than it has room for."""
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL))
        first, surplus = (self.boot_tenants(names.flavor_id(lease_id, 0)) for _ in range(2))
        assert [self.nova.servers.get(each.id).status for each in (first, surplus)] == ["ACTIVE", "ERROR"]
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), SMALL))
        assert self.settled(first).status == "SHELVED_OFFLOADED"
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2",), SMALL))
        assert self.host_of(first) == "host2"

    def test_whole_hosts_are_left_with_fifty_tags_or_rescued(self) -> None:
        for attack in ("tags", "rescue"):
            lease_id = str(uuid4())
            self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), WHOLE))
            mine = self.boot_tenants(ORDINARY, scheduler_hints={"lease": lease_id})
            assert self.host_of(mine) == "host1"
            if attack == "tags":
                self.tenant.servers.set_tags(mine, [f"t{number}" for number in range(50)])
            else:
                self.tenant.servers.rescue(mine)
                self.settled(mine, "RESCUE")
            self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1",), WHOLE))
            self.driver.events.look_after_servers()
            found = self.settled(mine)
            assert (found.status, found.locked) == ("SHELVED_OFFLOADED", False)
            with pytest.raises(Conflict):
                self.tenant.servers.start(mine)
            self.tenant.servers.delete(mine)
            self.gone(mine)
            self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))

    def test_a_lease_starts_whatever_its_members_do_to_its_servers_meanwhile(self) -> None:
        """Otherwise its start would never be over, and neither would its end."""
        self.trustor = self.tenant
        template = {"name": "job", "image_id": IMAGE, "networks": "none"}
        lease_id, hosts = str(uuid4()), ("host1", "host1")
        order = self.order(OperationKind.START, lease_id, hosts, SMALL, late=0, servers=(template,), trust_id="t")
        order = replace(order, operation=replace(order.operation, begun=int(time.time())))
        steps = self.driver.steps(order)
        for step in steps[: steps.index("boot")]:
            while self.driver.perform(order, step) is not None:
                time.sleep(POLL)
        end, known = time.monotonic() + LIMIT, set()
        while self.driver.perform(order, "boot") is not None:
            assert time.monotonic() < end, "it does not start"
            time.sleep(POLL)
            for server in self.tenant.servers.list():
                known.add(server.id)
                with suppress(ClientException):
                    server.pause() if server.name.endswith("1") else server.delete()
        assert len(known) == 2, "it boots what its members delete again"
        self.carry_out(self.order(OperationKind.STOP, lease_id, hosts, SMALL))
        self.assert_nothing_is_left()
