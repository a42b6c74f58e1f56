"""A cloud in a world: its clock is that of the scheduler, and its notifications go over the broker of the world."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

import requests

from lease_scheduler.random_streams import random_stream
from lease_scheduler.rehearsal.cloud import http
from lease_scheduler.rehearsal.cloud.cloud import Cloud, HostSize
from lease_scheduler.rehearsal.cloud.http import Answer, Request
from lease_scheduler.rehearsal.cloud.keystone.records import ADMIN, MEMBER, READER
from lease_scheduler.rehearsal.cloud.options import Options
from lease_scheduler.rehearsal.cloud.timing import Timing
from lease_scheduler.rehearsal.runtime.processes import EPOCH, Process
from lease_scheduler.rehearsal.world import World

#: Password of every user of the cloud.
PASSWORD = "secret"

#: User and project of the service.
SERVICE_USER, SERVICE_PROJECT = "lease-scheduler", "service"

#: User and project of the operator.
OPERATOR, OPERATIONS = "operator", "operations"

#: Project of those who have no lease, and host that is in no pool.
STRANGERS, SPARE = "strangers", "spare-1"

#: Flavors: name -> MB, VCPUs, GB. Servers that have one of these are not preemptible.
FLAVORS: Mapping[str, tuple[int, int, int]] = {"small": (1024, 1, 5), "large": (4096, 4, 20)}

#: Flavor of servers that give way to leases.
SPOT = "spot"

IMAGE = "tiny"

#: Seconds that a request is on its way, and that an answer is: least and most.
_WAY = (0.001, 0.03)

#: Service and exchange that Nova sends notifications with.
_TOPIC = "nova/versioned_notifications"


class RequestFaults:
    """What goes wrong with requests to the cloud. This class lets everything succeed; others override.

    Both methods may let the calling thread sleep, and may raise an error of the library ``requests``.
    """

    def before(self, process: Process, request: Request) -> Answer | None:
        """Strike a request before it reaches its service. An answer that is returned is given in place of its own."""
        return None

    def after(self, process: Process, request: Request, answer: Answer) -> Answer:
        """Strike an answer; return what the client gets."""
        return answer


class CloudSite:
    """A cloud in a world, with a project and a user for the service, one for the operator, and those of tenants.

    :param hosts: number of compute hosts
    :ivar hosts: their names
    :ivar faults: decides what goes wrong with requests; may be replaced at any time
    """

    def __init__(self, world: World, seed: int, hosts: int, projects: int) -> None:
        self._scheduler, self._broker = world.scheduler, world.broker
        self._random = Random(int(random_stream(seed, "network").integers(2**62)))
        chance = Random(int(random_stream(seed, "cloud").integers(2**62)))
        timing = Timing(lambda: EPOCH + self._scheduler.now, self._scheduler.call_later, chance)
        self._nova = Process(world.scheduler, "nova", "nova")
        self.cloud = Cloud(timing, self._notify, Options())
        self.faults = RequestFaults()
        self.cloud.network.before, self.cloud.network.after = self._before, self._after
        self.hosts = [f"compute-{number}" for number in range(1, hosts + 1)]
        self.projects = [f"project-{number}" for number in range(1, projects + 1)]
        self._set_up()

    def _set_up(self) -> None:
        cloud = self.cloud
        for host in (*self.hosts, SPARE):
            cloud.add_host(host, HostSize(8, 16_384, 200, 0, 1.0))
        for name, (ram, vcpus, disk) in FLAVORS.items():
            cloud.add_flavor(name, ram, vcpus, disk, id=name)
        cloud.add_flavor(SPOT, 1024, 1, 5, id=SPOT, extra_specs={"lease:preemptible": "true"})
        cloud.add_image(IMAGE, image_id=IMAGE)
        for name in (SERVICE_PROJECT, OPERATIONS, STRANGERS, *self.projects):
            cloud.add_project(name, name)
        cloud.add_user(SERVICE_USER, PASSWORD, {SERVICE_PROJECT: [ADMIN]}, SERVICE_USER)
        cloud.add_user(OPERATOR, PASSWORD, {OPERATIONS: [ADMIN]}, OPERATOR)
        for name in (STRANGERS, *self.projects):
            cloud.add_user(name, PASSWORD, {name: [MEMBER, READER]}, name)

    # -- requests --------------------------------------------------------------------------------------------

    def _before(self, request: Request) -> Answer | None:
        process = self._on_the_way()
        answer = self.faults.before(process, request)
        self._scheduler.trace.note(
            f"{self._scheduler.now:.6f} {process.label} {request.method} {request.service}{request.path}"
        )
        return answer

    def _after(self, request: Request, answer: Answer) -> Answer:
        found = self.faults.after(self._sender(), request, answer)
        process = self._on_the_way()
        self._scheduler.trace.note(
            f"{self._scheduler.now:.6f} {process.label} {request.method} {request.service}{request.path} {found.status}"
        )
        return found

    def _on_the_way(self) -> Process:
        """Let the time of a way between client and cloud pass, and return the process of the client.

        :raises requests.ConnectionError: no live process of the world asks
        """
        process = self._sender()
        self._scheduler.sleep(self._random.uniform(*_WAY))
        return process

    def _sender(self) -> Process:
        thread = self._scheduler.current
        if thread is None or not thread.process.is_alive:
            raise requests.ConnectionError("only a live process of the world can send requests")
        return thread.process

    # -- notifications ---------------------------------------------------------------------------------------

    def _notify(self, publisher: str, event_type: str, payload: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        timing = self.cloud.timing
        priority = "error" if event_type.endswith(".error") else "info"
        message = {
            "message_id": timing.new_id(),
            "publisher_id": publisher,
            "event_type": event_type,
            "priority": priority.upper(),
            "payload": payload,
            "timestamp": timing.precise_stamp(),
        }
        body = json.dumps({"id": timing.new_short_id(), "context": context, "message": message}, sort_keys=True)
        for queue in self._broker.fanned_out(f"{_TOPIC}.{priority}"):
            self._broker.publish(self._nova, queue, body)


@contextmanager
def cloud_in(world: World, seed: int, hosts: int, projects: int) -> Iterator[CloudSite]:
    """Within the block, requests to the URLs of the cloud reach a model in the world."""
    site = CloudSite(world, seed, hosts, projects)
    with http.installed(site.cloud.adapter):
        yield site
