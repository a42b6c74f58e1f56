"""A real Nova and Placement in this process (Nova's own fixtures), with fake hypervisors and a pool full of leases."""

from __future__ import annotations

import json
import logging
import sys
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import nova.conf
from nova import context, objects
from nova.tests.functional import integrated_helpers
from placement import deploy  # type: ignore[import-not-found]

from benchmarks.in_nova.message_bus import tell_listeners
from lease_scheduler.nova import aggregates as keys
from lease_scheduler.nova import options
from lease_scheduler.nova.lease_filter import LeaseFilter
from lease_scheduler.nova.lease_weigher import LeaseWeigher

#: The kinds of request, and what each asks for besides a small server.
PLAIN, PREEMPTIBLE, HINT = "plain", "preemptible", "lease hint"
SORTS = (PLAIN, PREEMPTIBLE, HINT)

#: For every so many hosts there is one running lease, on the first two of them, and one future lease, on all of them.
_GROUP = 4
_RUNNING = 2

_HOUR = 3_600
#: Seconds for which a host must be free of leases before a plain server may start there; all future leases start later.
_HORIZON = _HOUR
#: Seconds; longer than any measurement.
_LONG = 1_000_000
#: Number of characters of a failure to show.
_LAST_WORDS = 8_000
#: Longest time to wait for anything, in seconds.
_LIMIT = 120.0
_IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"


class Cloud(integrated_helpers.ProviderUsageBaseTestCase):  # type: ignore[misc]
    """Nova with its default options and with our plug-ins, which can be turned off.

    It is a test case because Nova's fixtures need one.

    :param work: called when everything is set up
    :param hosts: number of hosts, each with a compute service
    """

    compute_driver = "fake.MediumFakeDriver"

    def __init__(self, work: Callable[[Cloud], object], hosts: int) -> None:
        super().__init__("work_on_it")
        self._work = work
        self.hosts = [f"host{number:04}" for number in range(hosts)]
        #: Processor time that Placement has used, in seconds.
        self.placement_seconds = 0.0

    def run_to_its_end(self) -> None:
        """Set everything up, do the work and tear it down.

        :raises SystemExit: something failed; the message is the end of its description
        """
        result = unittest.TestResult()
        self.run(result)
        for _, reason in (*result.errors, *result.failures):
            # The log comes first in it, and the error last.
            raise SystemExit(reason[-_LAST_WORDS:])

    def setUp(self) -> None:
        self._time_placement()
        tell_listeners(self.stub_out)
        # No service is considered dead, and none reports, during the measurement.
        self.flags(service_down_time=3 * _LONG, report_interval=_LONG)
        super().setUp()
        # The fixtures format all debug messages and discard them; real services do not by default.
        logging.getLogger().setLevel(logging.INFO)
        for host in self.hosts:
            self._start_compute(host)
        self.context = context.get_admin_context()
        self.manager = self.scheduler_service.manager
        self._make_aggregates()
        self._tell_instances()
        little = {"memory_mb": 64, "vcpu": 1, "disk": 0, "ephemeral": 0}
        plain = self._create_flavor(**little)
        spot = self._create_flavor(**little, extra_spec={"lease:preemptible": "true"})
        self._flavors = {PLAIN: plain, PREEMPTIBLE: spot, HINT: plain}
        host_manager = self.manager.host_manager
        self._all = host_manager.enabled_filters, host_manager.weighers
        #: Our filter and our weigher, each in a list.
        self.plugins = [
            [plugin for plugin in plugins if isinstance(plugin, LeaseFilter | LeaseWeigher)] for plugins in self._all
        ]
        assert [len(plugins) for plugins in self.plugins] == [1, 1]

    def work_on_it(self) -> None:
        self._work(self)

    def start_service(self, name: str, *arguments: Any, **more: Any) -> Any:
        """Start a service as Nova's test case does, with the scheduler configured as in our administrator's guide."""
        if name == "scheduler":
            group = nova.conf.CONF.filter_scheduler
            options.register(nova.conf.CONF)
            self.flags(group=options.GROUP, on_demand_horizon=_HORIZON)
            self.flags(
                group="filter_scheduler",
                available_filters=[*group.available_filters, f"{LeaseFilter.__module__}.{LeaseFilter.__name__}"],
                enabled_filters=[*group.enabled_filters, LeaseFilter.__name__],
                weight_classes=[*group.weight_classes, f"{LeaseWeigher.__module__}.{LeaseWeigher.__name__}"],
                # Nova's default, which its fixtures override.
                build_failure_weight_multiplier=1_000_000.0,
            )
        return super().start_service(name, *arguments, **more)

    def use_plugins(self, *, ours: bool) -> None:
        """Use all filters and weighers from now on, or only Nova's own."""
        filters, weighers = self._all
        found = self.manager.host_manager
        found.enabled_filters = [each for each in filters if ours or each not in self.plugins[0]]
        found.weighers = [each for each in weighers if ours or each not in self.plugins[1]]

    def body(self, sort: str) -> dict[str, Any]:
        """Return the body of the request that boots a server."""
        server = {"name": "server", "imageRef": _IMAGE, "flavorRef": self._flavors[sort], "networks": "none"}
        hints = {"os:scheduler_hints": {"lease": _lease_id("running", 0)}} if sort == HINT else {}
        return {"server": server, **hints}

    def boot(self, sort: str) -> str:
        """Boot a server and return its id once Nova's notification says that it is ACTIVE."""
        self.notifier.reset()
        body = self.body(sort)
        server_id: str = self.api.api_post("/servers", body).body["server"]["id"]
        self.notifier.wait_for_versioned_notifications("instance.create.end", timeout=_LIMIT)
        return server_id

    def delete(self, server_id: str) -> None:
        """Delete a server, which must be ACTIVE, and wait until nothing of it is left."""
        server = self.api.get_server(server_id)
        assert server["status"] == "ACTIVE", server
        self.api.delete_server(server_id)
        self.notifier.wait_for_versioned_notifications("instance.delete.end", timeout=_LIMIT)
        end = time.monotonic() + _LIMIT
        while self._get_allocations_by_server_uuid(server_id):
            assert time.monotonic() < end, f"{server_id} still has its place"
            time.sleep(0.01)
        self.notifier.reset()
        self.stdlog.delete_stored_logs()

    @contextmanager
    def intercepted(self, target: Any, name: str, replacement: Callable[..., Any]) -> Iterator[None]:
        """Replace a method while the block runs; the replacement gets the original method as its first argument."""
        original = getattr(target, name)
        setattr(target, name, lambda *arguments, **more: replacement(original, *arguments, **more))
        try:
            yield
        finally:
            setattr(target, name, original)

    # -- what is there -----------------------------------------------------------------------------------

    def _time_placement(self) -> None:
        """Measure Placement separately: it runs in this process, but in a cloud it is a process of its own."""
        load = deploy.loadapp

        def loadapp(*arguments: Any, **more: Any) -> Any:
            application = load(*arguments, **more)

            def timed(environ: Any, start_response: Any) -> Any:
                begun = time.process_time()
                try:
                    return list(application(environ, start_response))
                finally:
                    self.placement_seconds += time.process_time() - begun

            return timed

        deploy.loadapp = loadapp
        self.addCleanup(setattr, deploy, "loadapp", load)

    def _make_aggregates(self) -> None:
        """Create the aggregates of the pool and of the leases; each host is in two or three of them."""
        now = int(time.time())
        self._aggregates_of: dict[str, list[str]] = {host: [] for host in self.hosts}
        self._make_aggregate("freepool", {keys.POOL: "true"}, self.hosts)
        for number, first in enumerate(range(0, len(self.hosts), _GROUP)):
            group = self.hosts[first : first + _GROUP]
            self._make_lease("running", number, group[:_RUNNING], exclusive=False, begins=now - _HOUR)
            begins = now + 2 * _HOUR + number * _HOUR // 7
            self._make_lease("coming", number, group, exclusive=True, begins=begins)
        for host, found in self._aggregates_of.items():
            self._tell_placement(host, found)
        self.manager.update_aggregates(self.context, objects.AggregateList.get_all(self.context))

    def _make_lease(self, kind: str, number: int, hosts: list[str], *, exclusive: bool, begins: int) -> None:
        """Create the aggregate of a lease, with as much metadata as the engine writes."""
        lease_id = _lease_id(kind, number)
        said = {
            keys.LEASE_ID: lease_id,
            keys.PROJECT_ID: self.api.project_id,
            keys.KIND: "reservation",
            keys.EXCLUSIVE: str(exclusive).lower(),
            keys.VACATED_FROM: str(begins),
            keys.FROM: str(begins),
            keys.UNTIL: str(begins + 24 * _HOUR),
            "lease:user_id": "benchmark",
            "lease:node_sets": "1",
            "lease:vms": str(len(hosts)),
            "lease:managed": "false",
            "lease:servers": "active",
        }
        self._make_aggregate(f"lease-{lease_id}", said, hosts)

    def _make_aggregate(self, name: str, said: dict[str, str], hosts: list[str]) -> None:
        made = objects.Aggregate(self.context, name=name, metadata=said)
        made.create()
        for host in hosts:
            made.add_host(host)
            self._aggregates_of[host].append(made.uuid)

    def _tell_placement(self, host: str, aggregates: list[str]) -> None:
        """Set a host's aggregates in Placement, as nova-api does."""
        version = "1.19"
        found = self.placement.get(f"/resource_providers?name={host}", version=version).body["resource_providers"][0]
        body = {"aggregates": aggregates, "resource_provider_generation": found["generation"]}
        answer = self.placement.put(f"/resource_providers/{found['uuid']}/aggregates", body, version=version)
        assert answer.status == 200, answer.body

    def _tell_instances(self) -> None:
        """Report that no host has instances, as compute services do periodically.

        For a host without a report, nova-scheduler would query the database.
        """
        for host in self.hosts:
            self.manager.update_instance_info(self.context, host, objects.InstanceList(objects=[]))


def _lease_id(kind: str, number: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"{kind} {number}"))


def run(what: Callable[[Cloud, int], Any]) -> None:
    """Run a measurement as a program with the arguments ``HOSTS PAIRS FILE``; write the result to FILE as JSON.

    :param what: a class with a method ``measure``
    """
    hosts, pairs, file = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    # Nova's services parse the command line themselves.
    del sys.argv[1:]
    Cloud(lambda cloud: file.write_text(json.dumps(what(cloud, pairs).measure())), hosts).run_to_its_end()
