"""Leases on a real Nova and Placement that run in this process, with fake hypervisors (Nova's own fixtures).

Run by unittest, because pytest cannot run Nova's test cases.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from nova.tests.functional import integrated_helpers
from novaclient import client

from lease_scheduler.cloud.driver import DriverEvent, Order, StepFailedError
from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.driver import NovaDriver
from lease_scheduler.cloud.nova.placement import Placement
from lease_scheduler.engine.interfaces import EventKind, Operation, OperationKind
from lease_scheduler.engine.records import LeaseDocument
from lease_scheduler.model.lease import LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources

_ROOT = Path(__file__).parents[3]
_LIMIT = 60.0
_IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
_HOSTS = ("host1", "host2", "host3")

SMALL = Resources({"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 1, HOST_SHARE: 1})
WHOLE = Resources({HOST_SHARE: WHOLE_HOST})


class RealClock:
    """Tells the time."""

    def now(self) -> int:
        return int(time.time())

    def seconds_until(self, instant: int) -> float:
        return max(0.0, instant - time.time())


class DriverTest(integrated_helpers.ProviderUsageBaseTestCase):  # type: ignore[misc]
    compute_driver = "fake.MediumFakeDriver"

    def setUp(self) -> None:
        super().setUp()
        self.flags(shelved_offload_time=0)
        self.flags(provider_config_location=str(_ROOT / "etc" / "nova" / "provider_config"), group="compute")
        for host in _HOSTS:
            self._start_compute(host)
        session = Session(auth=Token(self.admin_api.base_url, "unused"))
        session.additional_headers.update(
            {"X-Auth-User": "admin", "X-Roles": "admin", "X-Auth-Project-Id": self.admin_api.project_id}
        )
        self.nova = client.Client("2.93", session=session)
        facts = client.Client("2.87", session=session)
        fixture = self.placement.fixture
        placement = Adapter(Session(auth=Token(fixture.endpoint, fixture.token)), service_type="placement")
        self.held = Placement(placement)
        self.trusts_ended: list[str] = []
        self.driver = NovaDriver(
            RealClock(),
            self.nova,
            facts,
            self.held,
            lambda trust_id: self.nova,
            self.trusts_ended.append,
            0.2,
            "freepool",
        )
        self.driver.set_pool(_HOSTS)
        self.project = self.admin_api.project_id

    def start_service(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Nova's own, but its scheduler has our filter and weigher."""
        if name == "scheduler":
            self.flags(
                group="filter_scheduler",
                available_filters=[
                    "nova.scheduler.filters.all_filters",
                    "lease_scheduler.nova.lease_filter.LeaseFilter",
                ],
                enabled_filters=["ComputeFilter", "LeaseFilter"],
                weight_classes=[
                    "nova.scheduler.weights.all_weighers",
                    "lease_scheduler.nova.lease_weigher.LeaseWeigher",
                ],
            )
        return super().start_service(name, *arguments, **options)

    # -- helpers -----------------------------------------------------------------------------------------

    def order(
        self, kind: OperationKind | None, lease_id: str, hosts: tuple[str, ...], resources: Resources, **said: Any
    ) -> Order:
        """An order for VMs of one size."""
        if kind is None:
            return Order(1, lease_id, None)
        operation = Operation(kind, lease_id, tuple(range(len(hosts))), 0, 0)
        request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(len(hosts), resources),), 0)
        document = LeaseDocument(lease_id, "lease", self.project, "user", 0, **said)
        return Order(1, lease_id, operation, hosts, request, document, until=2**33)

    def carry_out(self, order: Order) -> None:
        """All steps of an order, each twice, as after a crash that lost that it was done."""
        for step in self.driver.steps(order.operation):
            for _ in range(2):
                end = time.monotonic() + _LIMIT
                while self.driver.perform(order, step) is not None:
                    assert time.monotonic() < end, f"{step} does not end"
                    time.sleep(0.05)

    def boot(self, flavor_id: str, **options: Any) -> Any:
        """Boot a server and wait until Nova has placed it or not."""
        server = self.nova.servers.create(f"s-{uuid4()}", _IMAGE, flavor_id, nics="none", **options)
        end = time.monotonic() + _LIMIT
        while server.status == "BUILD":
            assert time.monotonic() < end
            time.sleep(0.05)
            server = self.nova.servers.get(server.id)
        return server

    def host_of(self, server: Any) -> str | None:
        found: str | None = getattr(self.nova.servers.get(server.id), "OS-EXT-SRV-ATTR:host")
        return found

    def used(self, host: str) -> dict[str, int]:
        """What is taken of a host in Placement."""
        node = self.driver._hosts.node(host)
        assert node is not None
        usages: dict[str, int] = self.placement.get(f"/resource_providers/{node.provider_id}/usages").body["usages"]
        return usages

    def assert_nothing_is_left(self) -> None:
        assert [aggregate.name for aggregate in self.nova.aggregates.list()] == ["freepool"]
        assert not [flavor for flavor in self.nova.flavors.list(is_public=None) if flavor.name.startswith("lease-")]
        providers = self.placement.get("/resource_providers").body["resource_providers"]
        assert sorted(provider["name"] for provider in providers) == sorted(_HOSTS)
        for host in _HOSTS:
            assert not any(self.used(host).values()), (host, self.used(host))
        classes = self.placement.get("/resource_classes", version="1.2").body["resource_classes"]
        assert [each["name"] for each in classes if each["name"].startswith("CUSTOM_")] == [names.ANCHOR]

    # -- tests -------------------------------------------------------------------------------------------

    def test_hosts_and_flavors(self) -> None:
        found = {each.name: each for each in self.driver.hypervisors()}
        assert set(found) == set(_HOSTS)
        first = found["host1"]
        assert (first.vcpus, first.memory_mb, first.local_gb) == (10, 8192, 1028)
        # Nova's ratios of 4, 1 and 1, and 512 MB that it keeps for the host.
        assert first.capacity["VCPU"] == 40
        assert first.capacity["MEMORY_MB"] == 8192 - 512
        assert names.ANCHOR not in first.capacity
        assert first.service_name == "host1"
        assert first.availability_zone == "nova"
        assert "COMPUTE_NODE" in first.traits
        assert [each.name for each in self.driver.hypervisors(["host2", "nobody"])] == ["host2"]
        flavors = self.driver.flavors()
        assert flavors["1"].resources == {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}
        assert flavors.get("none") is None

    def test_the_pool(self) -> None:
        flavor = self.nova.flavors.list()[0]
        assert self.boot(flavor.id).status == "ERROR"
        self.driver.set_pool(["host1", "host3", "nobody"])
        assert self.host_of(self.boot(flavor.id)) == "host2"
        (pool,) = self.nova.aggregates.list()
        assert (pool.name, sorted(pool.hosts)) == ("freepool", ["host1", "host3"])

    def test_a_shared_lease_from_its_start_to_its_end(self) -> None:
        lease_id = str(uuid4())
        hosts = ("host1", "host1", "host2")
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL))
        assert self.used("host1")["VCPU"] == 4
        assert self.used("host2")["MEMORY_MB"] == 1024
        assert not any(self.used("host3").values())
        flavor_id = names.flavor_id(lease_id, 0)
        servers = [self.boot(flavor_id) for _ in range(4)]
        assert sorted(server.status for server in servers) == ["ACTIVE", "ACTIVE", "ACTIVE", "ERROR"]
        assert sorted(host for server in servers if (host := self.host_of(server))) == ["host1", "host1", "host2"]
        # Held once, however many of the slots are taken.
        assert self.used("host1")["VCPU"] == 4
        (footprint,) = self.driver.footprints()
        assert (footprint.servers, footprint.hosts) == ("active", frozenset({"host1", "host2"}))
        self.carry_out(self.order(OperationKind.STOP, lease_id, hosts, SMALL))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_a_host_that_is_held_as_a_whole_by_several_vms(self) -> None:
        """Together they need more CPUs than a single server may have, because Nova counts each of them four times."""
        quarter = Resources({"VCPU": 10, "MEMORY_MB": 1900, HOST_SHARE: 1})
        order = self.order(OperationKind.START, str(uuid4()), ("host1",) * 4, quarter)
        self.carry_out(order)
        assert self.used("host1")["VCPU"] == 40
        self.carry_out(self.order(None, order.lease_id, (), quarter))
        self.assert_nothing_is_left()

    def test_a_suspended_lease_comes_back_on_other_hosts(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host1"), SMALL))
        servers = [self.boot(names.flavor_id(lease_id, 0)) for _ in range(2)]
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1", "host1"), SMALL))
        assert {self.nova.servers.get(server.id).status for server in servers} == {"SHELVED_OFFLOADED"}
        assert not any(self.used("host1").values())
        (footprint,) = self.driver.footprints()
        assert (footprint.servers, footprint.hosts) == ("saved", frozenset())
        # Nobody gets back in by himself meanwhile.
        servers[0].unshelve()
        time.sleep(1)
        assert self.host_of(servers[0]) is None
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2", "host3"), SMALL))
        assert sorted(str(self.host_of(server)) for server in servers) == ["host2", "host3"]
        self.carry_out(self.order(None, lease_id, (), SMALL))
        assert self.nova.servers.list() == []
        self.assert_nothing_is_left()

    def test_a_lease_of_whole_hosts_keeps_everybody_else_away(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host2"), WHOLE))
        flavor = self.nova.flavors.list()[0]
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        assert self.boot(flavor.id).status == "ERROR"
        assert self.host_of(self.boot(preemptible.id)) == "host3"
        mine = [self.boot(flavor.id, scheduler_hints={"lease": lease_id}) for _ in range(2)]
        assert {self.host_of(server) for server in mine} <= {"host1", "host2"}
        assert self.boot(flavor.id, scheduler_hints={"lease": str(uuid4())}).status == "ERROR"
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host1", "host2"), WHOLE))
        assert {self.nova.servers.get(server.id).status for server in mine} == {"SHELVED_OFFLOADED"}
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1",), WHOLE))
        assert {self.host_of(server) for server in mine} == {"host1"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), WHOLE))
        left = [server for server in self.nova.servers.list() if server.status != "ERROR"]
        assert [self.host_of(server) for server in left] == ["host3"]

    def test_who_gives_way_is_shelved_and_who_does_not_is_named(self) -> None:
        preemptible = self.nova.flavors.create("spot", 512, 1, 1)
        preemptible.set_keys({"lease:preemptible": "true"})
        spot = self.boot(preemptible.id)
        host = str(self.host_of(spot))
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, (host,), WHOLE))
        assert self.nova.servers.get(spot.id).status == "SHELVED_OFFLOADED"
        mine = self.boot(self.nova.flavors.list()[0].id, scheduler_hints={"lease": lease_id})
        assert self.host_of(mine) == host
        # One that was there before its host came into the pool.
        self.driver.set_pool([host])
        firm = self.boot(self.nova.flavors.list()[0].id)
        elsewhere = str(self.host_of(firm))
        self.driver.set_pool(_HOSTS)
        order = self.order(OperationKind.START, str(uuid4()), (elsewhere,), WHOLE)
        try:
            self.carry_out(order)
        except StepFailedError as error:
            assert error.host == elsewhere
        else:
            raise AssertionError("somebody else's server is on the host")

    def test_another_lease_that_is_late_is_waited_for(self) -> None:
        late, waiting = str(uuid4()), str(uuid4())
        self.carry_out(self.order(OperationKind.START, late, ("host1",), SMALL))
        self.boot(names.flavor_id(late, 0))
        order = self.order(OperationKind.START, waiting, ("host1",), WHOLE)
        assert self.driver.perform(order, "aggregate") is None
        assert self.driver.perform(order, "vacate") is not None
        self.carry_out(self.order(OperationKind.SUSPEND, late, ("host1",), SMALL))
        self.carry_out(order)

    def test_capacity_that_somebody_else_still_has_is_waited_for(self) -> None:
        big = Resources({"MEMORY_MB": 6000, HOST_SHARE: 1})
        first, second = str(uuid4()), str(uuid4())
        self.carry_out(self.order(OperationKind.START, first, ("host1", "host2"), big))
        waiting = self.order(OperationKind.START, second, ("host3", "host1"), big)
        assert self.driver.perform(waiting, "aggregate") is None
        assert self.driver.perform(waiting, "hold") is not None
        assert not any(self.used("host3").values())
        self.carry_out(self.order(OperationKind.STOP, first, ("host1", "host2"), big))
        self.carry_out(waiting)
        assert self.used("host3")["MEMORY_MB"] == self.used("host1")["MEMORY_MB"] == 6000

    def test_a_managed_lease_boots_its_servers_where_they_are_planned(self) -> None:
        lease_id = str(uuid4())
        template = {"name": "web", "image_id": _IMAGE, "networks": "none", "metadata": {"role": "web"}}
        hosts = ("host3", "host1")
        self.carry_out(self.order(OperationKind.START, lease_id, hosts, SMALL, servers=(template,)))
        servers = self.nova.servers.list()
        assert sorted((server.name, str(self.host_of(server))) for server in servers) in (
            [("web-1", "host3"), ("web-2", "host1")],
            [("web-1", "host1"), ("web-2", "host3")],
        )
        assert {server.metadata["role"] for server in servers} == {"web"}
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, hosts, SMALL, servers=(template,)))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host2", "host2"), SMALL, servers=(template,)))
        assert {self.host_of(server) for server in self.nova.servers.list()} == {"host2"}
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host2", "host2"), SMALL, servers=(template,)))
        self.assert_nothing_is_left()

    def test_what_becomes_of_servers_at_the_end(self) -> None:
        lease_id = str(uuid4())
        servers = ({"name": "web", "image_id": _IMAGE, "networks": "none"},)
        said: dict[str, Any] = {"servers": servers, "on_end": "snapshot", "trust_id": "trust"}
        before = {image["id"] for image in self.glance.detail(None)}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL, **said))
        (server,) = self.nova.servers.list()
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1",), SMALL, **said))
        (image,) = [image for image in self.glance.detail(None) if image["id"] not in before]
        assert image["name"] == f"web-{server.id}"
        assert set(self.trusts_ended) == {"trust"}
        self.assert_nothing_is_left()
        try:
            self.carry_out(self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, on_end="keep"))
        except StepFailedError as error:
            assert "on_end" in str(error)
        else:
            raise AssertionError("its servers would be lost")

    def test_servers_that_nova_refuses_fail_the_step_with_the_reason(self) -> None:
        servers = ({"name": "web", "image_id": str(uuid4()), "networks": "none"},)
        try:
            self.carry_out(self.order(OperationKind.START, str(uuid4()), ("host1",), SMALL, servers=servers))
        except StepFailedError as error:
            assert "Nova refuses server web: " in str(error)
        else:
            raise AssertionError("there is no such image")

    def test_a_managed_lease_of_whole_hosts(self) -> None:
        lease_id = str(uuid4())
        template = {"name": "db", "image_id": _IMAGE, "networks": "none"}
        size = Resources({"VCPU": 4, "MEMORY_MB": 2048, HOST_SHARE: WHOLE_HOST})
        self.carry_out(self.order(OperationKind.START, lease_id, ("host2", "host3"), size, servers=(template,)))
        assert sorted(str(self.host_of(server)) for server in self.nova.servers.list()) == ["host2", "host3"]
        assert self.used("host2")["VCPU"] == 4
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, ("host2", "host3"), size, servers=(template,)))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, ("host1", "host2"), size, servers=(template,)))
        assert sorted(str(self.host_of(server)) for server in self.nova.servers.list()) == ["host1", "host2"]
        self.carry_out(self.order(OperationKind.STOP, lease_id, ("host1", "host2"), size, servers=(template,)))
        self.assert_nothing_is_left()

    def test_a_running_lease_grows_and_moves(self) -> None:
        lease_id = str(uuid4())
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1",), SMALL))
        self.carry_out(self.order(OperationKind.ADJUST, lease_id, ("host2", "host3"), SMALL))
        assert not any(self.used("host1").values())
        assert self.used("host2")["VCPU"] == self.used("host3")["VCPU"] == 2

    def test_what_happens_by_itself_is_told(self) -> None:
        """A host that is disabled and comes back; the owner deletes the last server of a managed lease."""
        lease_id = str(uuid4())
        template = {"name": "web", "image_id": _IMAGE, "networks": "none"}
        self.carry_out(self.order(OperationKind.START, lease_id, ("host1", "host2"), SMALL, servers=(template,)))
        told: list[DriverEvent] = []
        self.driver.start(told.append)
        self.addCleanup(self.driver.stop)

        def wait_for(*expected: tuple[EventKind, str | None, str | None]) -> None:
            end = time.monotonic() + _LIMIT
            while not set(expected) <= {(event.kind, event.lease_id, event.host) for event in told}:
                assert time.monotonic() < end, told
                time.sleep(0.05)

        wait_for(*((EventKind.HOST_UP, None, host) for host in _HOSTS))
        (service,) = self.nova.services.list(host="host3", binary="nova-compute")
        self.nova.services.disable_log_reason(service.id, "a disk fails")
        wait_for((EventKind.HOST_DOWN, None, "host3"))
        assert [event.reason for event in told if event.kind is EventKind.HOST_DOWN] == ["a disk fails"]
        told.clear()
        self.nova.services.enable(service.id)
        wait_for((EventKind.HOST_UP, None, "host3"))
        first, second = self.nova.servers.list()
        first.delete()
        time.sleep(1)
        assert [event for event in told if event.kind is EventKind.ENDED] == []
        second.delete()
        wait_for((EventKind.ENDED, lease_id, None))
        time.sleep(1)
        assert len([event for event in told if event.kind is EventKind.ENDED]) == 1
