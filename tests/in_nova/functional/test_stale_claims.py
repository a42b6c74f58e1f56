"""Slots that Nova claims for migrations, on a real Nova."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.orders import Removal
from lease_scheduler.engine.interfaces import OperationKind
from tests.in_nova.functional.site import HOSTS, LIMIT, ORDINARY, POLL, SMALL, NovaSite


class StaleClaimsTest(NovaSite):
    def started(self, *hosts: str) -> tuple[str, Any]:
        """Create a lease of a small VM on each of some hosts; return its id and a server of it."""
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL))
        server = self.boot(names.flavor_id(lease_id, 0))
        assert server.status == "ACTIVE"
        return lease_id, server

    def becomes(self, server: Any, wanted: str) -> None:
        """Wait until a server has a state."""
        end = time.monotonic() + LIMIT
        while self.nova.servers.get(server.id).status != wanted:
            assert time.monotonic() < end
            time.sleep(POLL)

    def claimed_on(self, host: str) -> set[str]:
        """Return who has slots on a host."""
        return set(self.held.consumers_on(names.slots_provider_id(host)))

    def test_a_migration_that_nova_could_not_release(self) -> None:
        """Nova gives up if Placement refuses, and says that the server, which runs on its new host, has failed."""
        lease_id, server = self.started("host1")
        with self.placement_that_refuses() as refused:
            self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host2",), SMALL))
        assert len(refused) == 1
        assert (self.nova.servers.get(server.id).status, self.host_of(server)) == ("ACTIVE", "host2")
        assert self.claimed_on("host1") == set()
        assert self.claimed_on("host2") == {server.id}
        self.carry_out(Removal(1, lease_id))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_an_engine_that_is_killed_before_nova_gives_up(self) -> None:
        """The next one does not know who moved the server; it is like one that an administrator has moved."""
        lease_id, server = self.started("host1")
        with self.placement_that_refuses() as refused:
            self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host1", "host2"), SMALL))
            server.live_migrate("host2", "auto")
            self.becomes(server, "ERROR")
        assert (len(refused), self.host_of(server)) == (1, "host2")
        self.driver = self.new_driver(self.options)
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host2",), SMALL))
        assert (self.nova.servers.get(server.id).status, self.host_of(server)) == ("ACTIVE", "host2")
        assert self.claimed_on("host1") == set()
        # Once that is mended, an error has another cause, and keeps the lease from nothing.
        self.nova.servers.reset_state(server, "error")
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host2",), SMALL))
        assert self.nova.servers.get(server.id).status == "ERROR"
        self.carry_out(Removal(1, lease_id))
        self.assert_nothing_is_left()

    def test_a_server_that_fails_on_its_host(self) -> None:
        """What is wrong with a server that did not move is not known, so it stays; it may be its project's doing."""
        lease_id, server = self.started("host1")
        self.nova.servers.reset_state(server, "error")
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host1", "host2"), SMALL))
        assert (self.nova.servers.get(server.id).status, self.host_of(server)) == ("ERROR", "host1")
        self.carry_out(Removal(1, lease_id))
        self.assert_nothing_is_left()

    def test_a_claim_of_nobody(self) -> None:
        """Only the slots of the lease that ends are looked at."""
        ends, _ = self.started("host1", "host1")
        stays, other = self.started("host1", "host1")
        for lease_id in (ends, stays):
            slot = {names.slots_provider_id("host1"): {names.slot_class(lease_id, 0): 1}}
            self.held.hold(str(uuid4()), slot, self.project, "user")
        assert len(self.claimed_on("host1")) == 4
        self.carry_out(self.order(OperationKind.STOP, ends, ("host1", "host1"), SMALL))
        assert len(self.claimed_on("host1")) == 2
        assert other.id in self.claimed_on("host1")
        self.carry_out(Removal(1, stays))
        self.assert_nothing_is_left()

    def test_a_resize_that_waits_to_be_confirmed(self) -> None:
        """A server that its user has resized to an ordinary flavor does not come back to the slot after the end."""
        self.driver.set_pool(["host1", "host2"])
        lease_id, server = self.started("host1")
        server.resize(ORDINARY)
        self.becomes(server, "VERIFY_RESIZE")
        assert self.host_of(server) == "host3"
        (migration,) = self.claimed_on("host1")
        assert migration != server.id
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL))
        assert self.nova.servers.get(server.id).status == "ACTIVE"
        server.delete()
        self.gone(server)
        self.driver.set_pool(HOSTS)
        self.assert_nothing_is_left()
