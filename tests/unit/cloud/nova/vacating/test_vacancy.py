"""Whether no server can still be on its way to vacated hosts."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy

LEASE = "11111111-1111-1111-1111-111111111111"
_ORDINARY: Mapping[str, str] = {}
_PREEMPTIBLE = {"lease:preemptible": "true"}
_CLAIM = {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}


class World:
    """A clock, flavors, servers, and the usage of the one host in Placement."""

    def __init__(self, *flavors: Mapping[str, str]) -> None:
        self.now = 1_000.0
        self.servers: dict[str, SimpleNamespace] = {}
        self.consumers: dict[str, dict[str, int]] = {}
        kinds = [SimpleNamespace(extra_specs=extra_specs) for extra_specs in flavors]
        nova = SimpleNamespace(
            client=SimpleNamespace(get=lambda url: (None, {"flavors": kinds})),
            flavors=SimpleNamespace(resource_class=lambda manager, each, loaded: each),
        )
        self.vacancy = Vacancy(nova, self._listed, self, clock=lambda: self.now)  # type: ignore[arg-type]

    def _listed(self, uuid: str) -> list[Any]:
        return [self.servers[uuid]] if uuid in self.servers else []

    def consumers_on(self, provider_id: str) -> Mapping[str, Mapping[str, int]]:
        assert provider_id == "p"
        return self.consumers

    def add(
        self, name: str, task: str | None, status: str, lease_id: str | None = None, project_id: str = "other"
    ) -> None:
        """Add a server with an allocation in Placement."""
        extra_specs = {} if lease_id is None else {"lease:id": lease_id}
        server = SimpleNamespace(
            id=name, tags=[], status=status, tenant_id=project_id, flavor={"extra_specs": extra_specs}
        )
        setattr(server, "OS-EXT-STS:task_state", task)
        self.servers[name] = server
        self.consumers[name] = dict(_CLAIM)

    def is_certain(self, *, gives_up: bool = False, own: str | None = None) -> bool:
        self.vacancy.note(LEASE)
        return self.vacancy.is_certain(LEASE, {"node1": "p"}, gives_up=gives_up, own=own)


def test_nobody_can_come() -> None:
    """If no server may use hosts of the pool, there is nothing to wait for."""
    assert World(_ORDINARY).is_certain()


def test_nova_scheduler_may_not_have_heard() -> None:
    world = World(_ORDINARY, _PREEMPTIBLE)
    assert not world.is_certain()
    world.now += 1
    assert not world.is_certain()
    world.now += 1
    assert world.is_certain()
    # At the next start of the lease it has to be checked again.
    assert not world.is_certain()


@pytest.mark.parametrize(
    ("task", "status"), [("spawning", "BUILD"), (None, "BUILD"), ("unshelving", "SHELVED_OFFLOADED")]
)
def test_a_server_that_was_sent_there(task: str | None, status: str) -> None:
    world = World(_ORDINARY)
    world.add("guest", task, status)
    assert not world.is_certain()
    world.consumers.clear()
    assert not world.is_certain()
    assert world.is_certain()


def test_a_server_that_has_just_arrived_is_looked_for_again() -> None:
    """It was not on the host when the caller looked there, and is not on its way any more."""
    world = World(_ORDINARY)
    world.add("guest", "spawning", "SHELVED_OFFLOADED")
    assert not world.is_certain()
    world.add("guest", None, "ACTIVE")
    assert not world.is_certain()
    # Now the caller has found it there, and has put it away.
    world.consumers.clear()
    assert world.is_certain()


def test_what_keeps_nobody_waiting() -> None:
    """Holds of other leases, leftovers of servers elsewhere, slots, and the lease's own servers."""
    world = World(_ORDINARY)
    world.consumers["of-a-lease"] = dict(_CLAIM)
    world.add("left-over", None, "ACTIVE")
    world.add("own", "spawning", "BUILD", LEASE)
    world.add("slot", "spawning", "BUILD")
    world.consumers["slot"] = {"CUSTOM_LEASE_ANCHOR": 1, "MEMORY_MB": 1}
    assert world.is_certain()


def test_a_server_that_never_arrives_is_not_waited_for_for_ever() -> None:
    """The hypervisor that it leaves by a resize may hang, and then Placement counts it on both hosts."""
    world = World(_ORDINARY)
    assert world.is_certain(gives_up=True)
    world.add("guest", "resize_migrating", "RESIZE")
    assert not world.is_certain()
    with pytest.raises(HostsOccupiedError) as caught:
        world.is_certain(gives_up=True)
    assert caught.value.servers == {"node1": ("guest",)}


def test_servers_of_the_project_may_come_while_its_lease_runs() -> None:
    world = World(_ORDINARY)
    world.add("mine", "spawning", "BUILD", project_id="biology")
    assert not world.is_certain()
    assert world.vacancy.is_noted(LEASE)
    assert not world.is_certain(own="biology")
    assert world.is_certain(own="biology")
    assert not world.vacancy.is_noted(LEASE)
    world.add("guest", "spawning", "BUILD")
    assert not world.is_certain(own="biology")
