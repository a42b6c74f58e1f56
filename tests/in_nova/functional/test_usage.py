"""What servers of leases use, as a real Nova tells it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from unittest import mock
from uuid import uuid4

from nova.objects import diagnostics
from nova.virt import fake

from lease_scheduler.cloud.facts import LeaseOnHosts, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions
from lease_scheduler.cloud.meters.cpu import CpuMeter
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from tests.in_nova.functional.site import IMAGE, LIMIT, ORDINARY, SMALL, NovaSite

_TEMPLATE = {"name": "job", "image_id": IMAGE, "networks": "none"}


class UsageTest(NovaSite):
    """The hypervisors tell the CPU times that a test has set; a lease of two servers runs."""

    def setUp(self) -> None:
        super().setUp()
        #: Server -> CPU seconds of each of its two processors; None: the hypervisor cannot tell.
        self.cpu: dict[str, float | None] = {}
        patched = mock.patch.object(fake.FakeDriver, "get_instance_diagnostics", self._diagnostics)
        patched.start()
        self.addCleanup(patched.stop)
        self.now = 0.0
        options = MeterOptions({"cpu_threshold": 2.0, "request_interval": 0.0}, self.driver.usage)
        self.meter = CpuMeter(options, lambda: self.now)
        self.lease_id = str(uuid4())
        self.leases = [LeaseOnHosts(self.lease_id, self.project)]
        self.carry_out(self.order(OperationKind.START, self.lease_id, ("host1", "host2"), SMALL, servers=(_TEMPLATE,)))
        self.servers = sorted(each.id for each in self.nova.servers.list())
        self.cpu = dict.fromkeys(self.servers, 100.0)

    def _diagnostics(self, instance: Any) -> Any:
        found = diagnostics.Diagnostics(state="running", driver="libvirt", config_drive=True)
        for number in range(2):
            seconds = self.cpu[instance.uuid]
            found.add_cpu(id=number, time=None if seconds is None else int(seconds * 1e9))
        return found

    def measure(self) -> Mapping[str, Activity]:
        """Measure after 100 s."""
        self.now += 100
        return self.meter.measure(self.leases)

    def wait_for(self, server_id: str, status: str) -> None:
        end = time.monotonic() + LIMIT
        while self.nova.servers.get(server_id).status != status:
            assert time.monotonic() < end
            time.sleep(0.1)

    def test_cpu_times(self) -> None:
        first, second = self.servers
        assert self.driver.usage.cpu_time(first) == 200.0
        assert self.measure() == {self.lease_id: Activity.UNKNOWN}
        assert self.measure() == {self.lease_id: Activity.IDLE}
        self.cpu[second] = 150.0
        assert self.measure() == {self.lease_id: Activity.USED}
        assert self.measure() == {self.lease_id: Activity.IDLE}
        self.cpu[first] = None
        assert self.driver.usage.cpu_time(first) is None
        assert self.measure() == {self.lease_id: Activity.UNKNOWN}

    def test_servers_that_do_not_run(self) -> None:
        """What users stop uses nothing; what is shelved or suspended may have made room, so nothing is known."""
        first, second = self.servers
        self.measure()
        self.nova.servers.stop(first)
        self.wait_for(first, "SHUTOFF")
        powers = {each.server_id: each.power for each in self.driver.usage.servers_of(self.leases)[self.lease_id]}
        assert powers == {first: Power.OFF, second: Power.ON}
        assert self.measure() == {self.lease_id: Activity.IDLE}
        self.nova.servers.suspend(second)
        self.wait_for(second, "SUSPENDED")
        assert self.measure() == {self.lease_id: Activity.UNKNOWN}
        assert self.driver.usage.cpu_time(first) is None, "Nova refuses it"
        assert self.driver.usage.cpu_time(str(uuid4())) is None

    def test_a_host_that_is_down(self) -> None:
        self.measure()
        service = next(each for each in self.nova.services.list(binary="nova-compute") if each.host == "host1")
        self.nova.services.force_down(service.id, True)
        assert self.measure() == {self.lease_id: Activity.UNKNOWN}

    def test_without_servers(self) -> None:
        for server_id in self.servers:
            self.nova.servers.delete(server_id)
        end = time.monotonic() + LIMIT
        while self.nova.servers.list():
            assert time.monotonic() < end
            time.sleep(0.1)
        assert self.measure() == {self.lease_id: Activity.IDLE}

    def test_servers_on_hosts_that_a_lease_has_for_itself(self) -> None:
        """They count if they are of its project and not of another lease."""
        lease_id, other = str(uuid4()), LeaseOnHosts(str(uuid4()), "another project", frozenset({"host3"}))
        whole = Resources({HOST_SHARE: WHOLE_HOST})
        self.carry_out(self.order(OperationKind.START, lease_id, ("host3",), whole))
        mine = LeaseOnHosts(lease_id, self.project, frozenset({"host3"}))
        assert self.driver.usage.servers_of([mine]) == {lease_id: []}
        server = self.boot(ORDINARY, scheduler_hints={"lease": lease_id})
        assert self.host_of(server) == "host3"
        found = self.driver.usage.servers_of([*self.leases, mine, other])
        assert [each.server_id for each in found[lease_id]] == [server.id]
        assert sorted(each.server_id for each in found[self.lease_id]) == self.servers
        assert found[other.lease_id] == []
        assert found[lease_id][0].vcpus == 1
        assert found[self.lease_id][0].vcpus == 2

    def test_many_leases_take_one_list(self) -> None:
        many = [LeaseOnHosts(str(uuid4()), self.project, frozenset({"host3"})) for _ in range(50)]
        with mock.patch.object(self.driver.usage, "_listed", wraps=self.driver.usage._listed) as listed:
            assert self.driver.usage.servers_of([]) == {}
            listed.assert_not_called()
            self.driver.usage.servers_of([*many, *self.leases])
            listed.assert_called_once_with()
