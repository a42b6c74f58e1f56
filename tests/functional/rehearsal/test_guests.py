"""Guests on hosts that leases get: those on their way there, and those that take long to leave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cmd.rehearsing.casting import Cast
from lease_scheduler.cmd.rehearsing.rehearsal import Rehearsal, Stage, staged
from lease_scheduler.rehearsal import stored_facts
from lease_scheduler.rehearsal.actors.bookings import date
from lease_scheduler.rehearsal.actors.clients import Person
from lease_scheduler.rehearsal.cloud.http import Answer, Request
from lease_scheduler.rehearsal.cloud.nova.states import RUNNING, SHUTDOWN
from lease_scheduler.rehearsal.runtime.patching import Patches
from lease_scheduler.rehearsal.runtime.processes import EPOCH, Process
from lease_scheduler.rehearsal.site import IMAGE, OPERATIONS, OPERATOR, SPARE, SPOT, STRANGERS, RequestFaults

# Killed processes do not close the file of the simulated cloud.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")

#: Seconds that it takes to copy a large disk: longer than starts of leases may be late.
_COPY = 400.0

#: Seconds by which a start may be late. Its hosts are prepared in the minute before.
_LATE = 3.0

#: Seconds from the choice of a host for a server until its compute service has heard of it.
_ON_THE_WAY = 5.0

_PROJECT = "project-1"
_NODE = {"count": 1, "exclusive": True}
_SHARED_NODE = {"count": 1, "resources": {"VCPU": 8, "MEMORY_MB": 1024, "DISK_GB": 5}}


class _JustBefore(RequestFaults):
    """Has a guest booted just before a lease gets a host, and the lease wait until nova-scheduler has chosen."""

    def __init__(self, stage: Stage, host: str) -> None:
        self._stage, self._host = stage, host
        self.is_done = False

    def before(self, process: Process, request: Request) -> Answer | None:
        asked: Any = request.body.get("add_host") if isinstance(request.body, dict) else None
        if asked and asked["host"] == self._host and not self.is_done:
            self.is_done = True
            world = self._stage.world
            world.start("guest", "desk", _boot_guest)
            world.scheduler.sleep(2.0)
        return None


def _boot_guest(user: str = STRANGERS, project: str = STRANGERS, **options: str) -> None:
    Person(user, project).nova.servers.create("guest", IMAGE, SPOT, nics="none", **options)


def _take(stage: Stage, **seconds: float) -> None:
    """Have steps of Nova take some seconds."""
    assert stage.site is not None
    nova = stage.site.cloud.nova
    durations = {name: (value, value) for name, value in seconds.items()}
    nova.options = replace(nova.options, durations={**nova.options.durations, **durations})


def _ask(stage: Stage, method: str, path: str, body: Any = None) -> Any:
    answers = []
    stage.world.start("user", "desk", lambda: answers.append(Person(_PROJECT, _PROJECT).ask(method, path, body)))
    stage.world.run(3.0)
    (answer,) = answers
    assert answer.status_code < 300, answer.text
    return answer.json()["lease"]


@pytest.mark.parametrize("seed", range(3))
def test_a_guest_that_is_on_its_way_to_a_host_that_a_running_lease_gets(
    patches: Patches, image: bytes, seed: int
) -> None:
    rehearsal = Rehearsal(seed, hosts=2, tenants=1, engines=1, with_nova=True, cast=Cast((), (), (), ()))
    with staged(rehearsal, patches, image) as stage:
        assert stage.site is not None
        world, nova = stage.world, stage.site.cloud.nova
        _take(stage, message=_ON_THE_WAY, schedule=0.1)
        rehearsal.people(stage)
        world.run(60.0)
        lease = _ask(stage, "POST", "leases", {"name": "a", "kind": "immediate", "duration": 3_600, "nodes": [_NODE]})
        world.run(30.0)
        (reservation,) = lease["reservations"]
        (mine,) = _hosts(stage, lease["id"])
        (other,) = {"compute-1", "compute-2"} - {mine}
        arrival = stage.site.faults = _JustBefore(stage, other)
        _ask(stage, "PUT", f"leases/{lease['id']}", {"reservations": [{"id": reservation["id"], "min": 2, "max": 2}]})
        last_seen, done = 0.0, None
        for _ in range(180):
            world.run(1.0)
            guests = [each for each in nova.present() if each.project_id == STRANGERS]
            if any(each.host == other and each.power == RUNNING for each in guests):
                last_seen = world.scheduler.now
            if done is None and set(_hosts(stage, lease["id"])) == {mine, other} and _is_idle(stage):
                done = world.scheduler.now
        assert arrival.is_done
        assert last_seen
        assert done is not None
        assert last_seen <= done


def _is_idle(stage: Stage) -> bool:
    """Return whether the engine has given no command that is not over."""
    return stage.world.database.is_idle and not stored_facts.operations(stage.world.database)


def _hosts(stage: Stage, lease_id: str) -> list[str]:
    assert stage.site is not None
    return [
        host
        for each in stage.site.cloud.nova.aggregates.values()
        if names.lease_of_aggregate(each.name) == lease_id
        for host in each.hosts
    ]


@pytest.mark.parametrize("node", [_NODE, _SHARED_NODE], ids=["whole", "shared"])
def test_a_start_does_not_wait_until_the_disk_of_a_guest_is_copied(
    patches: Patches, image: bytes, node: dict[str, Any]
) -> None:
    """The guest is switched off in the minute before the start. It comes back elsewhere when its disk is copied."""
    rehearsal = Rehearsal(1, hosts=1, tenants=1, engines=1, with_nova=True, cast=Cast((), (), (), ()))
    with staged(rehearsal, patches, image) as stage:
        assert stage.site is not None
        world, nova = stage.world, stage.site.cloud.nova
        _take(stage, snapshot=_COPY)
        rehearsal.people(stage)
        world.run(60.0)
        world.start("guest", "desk", lambda: _boot_guest(OPERATOR, OPERATIONS, host="compute-1"))
        world.run(30.0)
        (guest,) = nova.present()
        assert (guest.host, guest.state, guest.power) == ("compute-1", "active", RUNNING)
        start = int(EPOCH + world.scheduler.now) + 180
        terms = {"kind": "reservation", "start_date": date(start), "end_date": date(start + 900)}
        lease = _ask(stage, "POST", "leases", {"name": "a", "nodes": [node], **terms})
        world.run(start - EPOCH - world.scheduler.now + 60.0)
        found = stored_facts.leases(world.database)[lease["id"]]
        assert found.state == "active"
        assert found.started is not None
        assert start <= found.started <= start + _LATE
        assert (guest.host, guest.power) == ("compute-1", SHUTDOWN)
        assert stage.site.cloud.placement.held(guest.id) == {}
        world.run(_COPY + 60.0)
        assert (guest.host, guest.state, guest.power) == (SPARE, "active", RUNNING)
        assert stage.site.cloud.placement.held(guest.id)
