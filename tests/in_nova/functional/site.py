"""A real Nova and Placement that run in this process, with fake hypervisors (Nova's own fixtures)."""

from __future__ import annotations

import gc
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import uuid4

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from nova.tests.functional import integrated_helpers

# isort: split
# Nova's tests replace threads by green ones, which has to come before anything else of Nova.
from nova.exception import AllocationDeleteFailed
from nova.scheduler.client.report import SchedulerReportClient
from novaclient import client
from sqlalchemy import Connection, Engine, event

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.assembly.clients import NovaClients
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.driver import NovaDriver
from lease_scheduler.cloud.orders import AnyOrder, Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.records.documents import LeaseDocument
from tests.in_nova.functional.glance import ImageService

_ROOT = Path(__file__).parents[3]


class Statements(dict[Any, Any]):
    """Compiled statements of all databases: each test has new databases, but all are the same SQLite."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(key[1:], compiled)


_STATEMENTS = Statements()


@event.listens_for(Engine, "engine_connect")
def _share_statements(connection: Connection) -> None:
    """Share compiled statements between tests: compiling Nova's again takes a seventh of the time of a test."""
    connection.execution_options(compiled_cache=_STATEMENTS)


# Each Nova compiles the patterns of its routes and schemas, more than Python remembers by default.
re._MAXCACHE = 100_000  # type: ignore[attr-defined]

# Exempt Nova's modules from garbage collection, which would take a tenth of the time of a test.
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 100)

LIMIT = 60.0
#: Seconds between two polls of Nova; a poll costs Nova more than the step that it delays.
POLL = 0.2
IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
#: A flavor without relation to leases, listed among those of leases.
ORDINARY = "1"
HOSTS = ("host1", "host2", "host3")

SMALL = Resources({"VCPU": 2, "MEMORY_MB": 1024, "DISK_GB": 1, HOST_SHARE: 1})
WHOLE = Resources({HOST_SHARE: WHOLE_HOST})


#: Seconds between two looks at whether Nova works, which it does if it computes for half of them.
_WORK = 0.02
#: Seconds after which work counts as work that somebody gives Nova all the time.
_LONGEST_WORK = 1.0


def let_nova_work() -> None:
    """Wait for the time of a poll, and then until Nova, which runs in this process, only waits, but not for long."""
    time.sleep(POLL)
    end = time.monotonic() + _LONGEST_WORK
    while time.monotonic() < end:
        begun = time.process_time()
        time.sleep(_WORK)
        if time.process_time() - begun < _WORK / 2:
            return


class RealClock:
    """Tells the time."""

    def now(self) -> int:
        return int(time.time())

    def seconds_until(self, instant: int) -> float:
        return max(0.0, instant - time.time())


class NovaSite(integrated_helpers.ProviderUsageBaseTestCase):  # type: ignore[misc]
    """Base of the driver's tests: three hosts, all of them in the pool."""

    compute_driver = "fake.MediumFakeDriver"
    options = DriverOptions()
    filters: tuple[str, ...] = ("ComputeFilter", "ServerGroupAffinityFilter", "LeaseFilter")
    #: How often each step is carried out: twice as after a crash that lost the record of the first time.
    times = 1
    #: Real seconds that a step may take.
    limit = LIMIT
    #: Client of the project that gave trusts; by default the one of the administrator.
    trustor: Any = None
    #: Called when Nova has started; the test follows if it returns True.
    when_nova_has_started: Callable[[], bool] | None = None

    def _run_test_method(self, result: Any) -> None:
        if self.when_nova_has_started is None or self.when_nova_has_started():
            super()._run_test_method(result)

    def setUp(self) -> None:
        # Nova's fixture formats every debug message to check that it can; that is an eighth of the time.
        logging.disable(logging.DEBUG)
        self.addCleanup(logging.disable, logging.NOTSET)
        super().setUp()
        self.flags(shelved_offload_time=0)
        # Nova's own tests check its answers against their schemas; that takes a third of each request.
        self.flags(response_validation="ignore", group="api")
        self.flags(provider_config_location=str(_ROOT / "etc" / "nova" / "provider_config"), group="compute")
        for host in HOSTS:
            self._start_compute(host)
        session = Session(auth=Token(self.admin_api.base_url, "unused"))
        session.additional_headers.update(
            {"X-Auth-User": "admin", "X-Roles": "admin", "X-Auth-Project-Id": self.admin_api.project_id}
        )
        self.nova = client.Client("2.93", session=session)
        fixture = self.placement.fixture
        placement = Adapter(Session(auth=Token(fixture.endpoint, fixture.token)), service_type="placement")
        self.held = Placement(placement)
        self.trusts_ended: list[str] = []
        self.images = ImageService(self.glance, "service-project")
        self.driver = self.new_driver(self.options)
        self.project = self.admin_api.project_id

    def start_service(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Start a service as Nova's test case does, but with our filter and weigher in the scheduler."""
        if name == "scheduler":
            self.flags(
                group="filter_scheduler",
                available_filters=[
                    "nova.scheduler.filters.all_filters",
                    "lease_scheduler.nova.lease_filter.LeaseFilter",
                ],
                enabled_filters=list(self.filters),
                weight_classes=[
                    "nova.scheduler.weights.all_weighers",
                    "lease_scheduler.nova.lease_weigher.LeaseWeigher",
                ],
            )
        return super().start_service(name, *arguments, **options)

    def new_driver(self, options: DriverOptions) -> NovaDriver:
        """Return the driver of an engine that has just started."""
        clients = NovaClients(
            nova=self.nova,
            nova_with_facts=client.Client("2.87", session=self.nova.client.session),
            placement=self.held,
            network=self.network,
            glance=self.image_service,
            on_behalf_of=lambda trust_id: self.trustor or self.nova,
            end_trust=self.trusts_ended.append,
        )
        found = NovaDriver(RealClock(), clients, replace(options, watch_interval=0.2))
        found.set_pool(HOSTS)
        return found

    def network(self) -> Adapter:
        """Return no network client, because there is no Neutron here."""
        raise AssertionError("no lease of these tests has a floating IP")

    def image_service(self) -> Any:
        """Return Nova's own image service with Glance's interface."""
        return self.images

    def client_of(self, project_id: str) -> Any:
        """Return a Nova client for an administrator of another project."""
        session = Session(auth=Token(self.admin_api.base_url, "unused"))
        said = {"X-Auth-User": "admin", "X-Roles": "admin", "X-Auth-Project-Id": project_id}
        session.additional_headers.update(said)
        return client.Client("2.93", session=session)

    # -- helpers -----------------------------------------------------------------------------------------

    def order(
        self,
        kind: OperationKind,
        lease_id: str,
        hosts: tuple[str, ...],
        resources: Resources,
        mode: PreemptionMode = PreemptionMode.SHELVE,
        late: int = -1000,
        **said: Any,
    ) -> Order:
        """Return an order for VMs of one size.

        :param late: seconds by which its end has passed; it began then at the latest
        """
        now = int(time.time())
        operation = Operation(kind, lease_id, tuple(range(len(hosts))), now - max(0, late), now - late)
        request = LeaseRequest(
            lease_id, LeaseKind.BEST_EFFORT, (NodeSet(len(hosts), resources),), 0, preemption_mode=mode
        )
        document = LeaseDocument(lease_id, "lease", self.project, "user", 0, **said)
        return Order(1, lease_id, operation, hosts, request, document)

    def carry_out(self, order: AnyOrder) -> None:
        """Carry out all steps of an order."""
        for step in self.driver.steps(order):
            for _ in range(self.times):
                end = time.monotonic() + self.limit
                while self.driver.perform(order, step) is not None:
                    assert time.monotonic() < end, f"{step} does not end"
                    let_nova_work()

    @contextmanager
    def placement_that_refuses(self) -> Iterator[list[str]]:
        """Within the block, Nova cannot release what migrations have; yield them."""
        release = SchedulerReportClient.delete_allocation_for_instance
        refused: list[str] = []

        def refuse(client: Any, context: Any, uuid: str, consumer_type: str = "instance", force: bool = False) -> Any:
            if consumer_type == "migration":
                refused.append(uuid)
                raise AllocationDeleteFailed(consumer_uuid=uuid, error="placement.concurrent_update")
            return release(client, context, uuid, consumer_type, force)

        with mock.patch.object(SchedulerReportClient, "delete_allocation_for_instance", refuse):
            yield refused

    def boot(self, flavor_id: str, **options: Any) -> Any:
        """Boot a server and wait until Nova has placed it or failed to."""
        image = None if "block_device_mapping_v2" in options else IMAGE
        server = self.nova.servers.create(f"s-{uuid4()}", image, flavor_id, nics="none", **options)
        end = time.monotonic() + LIMIT
        while server.status == "BUILD":
            assert time.monotonic() < end
            let_nova_work()
            server = self.nova.servers.get(server.id)
        return server

    def gone(self, server: Any) -> None:
        """Wait until a server is deleted."""
        end = time.monotonic() + LIMIT
        while any(each.id == server.id for each in self.nova.servers.list()):
            assert time.monotonic() < end
            let_nova_work()

    def host_of(self, server: Any) -> str | None:
        found: str | None = getattr(self.nova.servers.get(server.id), "OS-EXT-SRV-ATTR:host")
        return found

    def used(self, host: str) -> dict[str, int]:
        """Return the usage of a host in Placement."""
        node = self.driver._common.hosts.node(host)
        assert node is not None
        usages: dict[str, int] = self.placement.get(f"/resource_providers/{node.provider_id}/usages").body["usages"]
        return usages

    def assert_nothing_is_left(self) -> None:
        assert [aggregate.name for aggregate in self.nova.aggregates.list()] == ["freepool"]
        assert not [flavor for flavor in self.nova.flavors.list(is_public=None) if flavor.name.startswith("lease-")]
        providers = self.placement.get("/resource_providers").body["resource_providers"]
        for provider in providers:
            # The provider with the slots stays below its host, without inventory.
            inventories = self.placement.get(f"/resource_providers/{provider['uuid']}/inventories").body["inventories"]
            assert provider["name"] in HOSTS or not inventories, (provider["name"], inventories)
        for host in HOSTS:
            assert not any(self.used(host).values()), (host, self.used(host))
        classes = self.placement.get("/resource_classes", version="1.2").body["resource_classes"]
        assert [each["name"] for each in classes if each["name"].startswith("CUSTOM_")] == [names.ANCHOR]
