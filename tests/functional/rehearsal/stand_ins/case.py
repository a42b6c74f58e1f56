"""The base class of the tests inside Nova, with a model instead of a Nova."""

from __future__ import annotations

import random
import unittest
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from lease_scheduler.cloud.nova.api.pci_aliases import parse
from lease_scheduler.rehearsal.cloud import http
from lease_scheduler.rehearsal.cloud.cloud import Cloud, HostSize
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.options import DURATIONS, Options
from lease_scheduler.rehearsal.cloud.timing import Timing
from tests.functional.rehearsal.stand_ins import drivers, modules
from tests.functional.rehearsal.stand_ins.services import GlanceHandle, HeaderAdapter, PlacementHandle, PortView
from tests.functional.rehearsal.virtual_time import CLOCK

#: Project of the administrator.
_PROJECT = "6f70656e737461636b20342065766572"

_IMAGES = ("155d900f-4e14-4e4c-a73d-069cbf4541e6", "a2459075-d96c-40d5-893e-577ff92e721c")

#: Id, MB of memory, VCPUs and GB of disk of the flavors that each cloud of Nova's tests has.
_FLAVORS = (
    ("1", "m1.tiny", 512, 1, 1),
    ("2", "m1.small", 2048, 1, 20),
    ("3", "m1.medium", 4096, 2, 40),
    ("4", "m1.large", 8192, 4, 80),
    ("5", "m1.xlarge", 16384, 8, 160),
)

#: Options of Nova that options of the model stand for.
_OPTIONS = ("shelved_offload_time", "reclaim_instance_interval", "allow_resize_to_same_host")

#: Seconds: work is quick, as with Nova's fake hypervisors.
_DURATIONS: Mapping[str, tuple[float, float]] = dict.fromkeys(DURATIONS, (0.01, 0.06))


class ModelTestCase(unittest.TestCase):
    """What the tests use of ``ProviderUsageBaseTestCase``.

    :cvar current: the test that runs
    """

    compute_driver = "fake.MediumFakeDriver"
    current: ModelTestCase

    def setUp(self) -> None:
        super().setUp()
        ModelTestCase.current = self
        CLOCK.reset()
        self.stack = ExitStack()
        self.addCleanup(self.stack.close)
        timing = Timing(lambda: CLOCK.now, CLOCK.call_later, random.Random(self.id()))
        self.notifier = SimpleNamespace(versioned_notifications=[])
        self.cloud = Cloud(timing, self._heard, Options(durations=_DURATIONS))
        self.stack.enter_context(http.installed(HeaderAdapter(self.cloud)))
        for flavor_id, name, ram, vcpus, disk in _FLAVORS:
            self.cloud.add_flavor(name, ram, vcpus, disk, id=flavor_id)
        for image_id in _IMAGES:
            self.cloud.add_image("an image", image_id=image_id)
        network = self.cloud.add_network("private", "192.168.1.0/24")
        port = self.cloud.add_port(network, _PROJECT)
        self.neutron = SimpleNamespace(_ports={port.id: PortView(port)})
        self.glance = GlanceHandle(self.cloud)
        self.placement = PlacementHandle()
        self.admin_api = SimpleNamespace(base_url="http://compute/v2.1", project_id=_PROJECT)
        self.cell_mappings = {"cell1": self.cloud.nova}
        self.computes: dict[str, Any] = {}
        self.conf: dict[str, Any] = {"shelved_offload_time": 0, "reclaim_instance_interval": 0}
        self._pci_specs: list[str] = []
        computes = self.cloud.computes
        computes.hypervisor = self._hypervisor
        computes.delivers = modules.delivers
        computes.releases = self._releases
        computes.cpu_seconds = self._cpu_seconds
        self.start_service("conductor")
        self.scheduler_service = self.start_service("scheduler")

    # -- what Nova's test case has ---------------------------------------------------------------------------

    def flags(self, group: str | None = None, **values: Any) -> None:
        """Set options of Nova."""
        nova = self.cloud.nova
        if group is None:
            self.conf |= values
            nova.options = replace(nova.options, **{key: values[key] for key in _OPTIONS if key in values})
        elif group == "filter_scheduler" and "enabled_filters" in values:
            nova.options = replace(nova.options, filters=tuple(values["enabled_filters"]))
        elif group == "pci":
            self._pci_specs = values["device_spec"]
            nova.options = replace(nova.options, pci_aliases=parse(values["alias"]))

    def start_service(self, name: str, *_: Any, **__: Any) -> Any:
        """Return a service, as far as tests look into it."""
        manager = SimpleNamespace(enabled_filters=(), _choose_host_filters=lambda names: names)
        return SimpleNamespace(manager=SimpleNamespace(host_manager=manager))

    def _start_compute(self, host: str) -> None:
        kind = getattr(modules.FAKE, self.compute_driver.removeprefix("fake."))
        driver = kind(host, set())
        tree = drivers.ProviderTree(host)
        driver.update_provider_tree(tree, host)
        size = HostSize(kind.vcpus, kind.memory_mb, kind.local_gb)
        devices = [*tree.devices(), *drivers.pci_devices(driver, self._pci_specs)]
        driver.cached_images = self.cloud.add_host(host, size, devices).cached_images
        computes = self.cloud.computes
        self.computes[host] = SimpleNamespace(
            manager=SimpleNamespace(driver=driver),
            stop=lambda: computes.stop(host),
            start=lambda: computes.start(host),
        )

    # -- hooks of the model ----------------------------------------------------------------------------------

    def _heard(self, publisher: str, event_type: str, payload: Any, context: Any) -> None:
        self.notifier.versioned_notifications.append({"event_type": event_type, "payload": payload})

    def _hypervisor(self, call: HypervisorCall, proceed: Proceed) -> None:
        """Call a method of a hypervisor, which tests may have replaced by one that sleeps or fails."""
        method = getattr(self.computes[call.host].manager.driver, call.method, None)
        if method is None:
            proceed(None)
            return
        server = self.cloud.nova.servers[call.server_id]
        instance = drivers.Instance(call.server_id, server.state)

        def run() -> None:
            error: Exception | None = None
            try:
                if call.method == "spawn":
                    modules.create_volumes(server)
                    method(None, instance, None, None, None, server.devices)
                elif call.method == "power_off":
                    method(instance)
                else:
                    method(None, instance)
            except Exception as failure:
                error = HypervisorError(str(failure))
            proceed(error)

        CLOCK.spawn(run)

    def _releases(self, consumer_id: str) -> bool:
        is_migration = any(each.uuid == consumer_id for each in self.cloud.nova.migrations)
        return modules.releases(consumer_id, "migration" if is_migration else "instance")

    def _cpu_seconds(self, server: Server) -> list[float | None]:
        driver = self.computes[str(server.host)].manager.driver
        found = driver.get_instance_diagnostics(drivers.Instance(server.id, server.state))
        return [None if each is None else each / 1e9 for each in found.times]
