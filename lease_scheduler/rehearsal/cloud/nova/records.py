"""What Nova keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.rehearsal.cloud.nova import states

LIVE, RESIZE, COLD, EVACUATION = "live-migration", "resize", "migration", "evacuation"


@dataclass
class Flavor:
    """A flavor.

    :ivar projects: projects that may use it although it is not public
    """

    id: str
    name: str
    ram: int
    vcpus: int
    disk: int
    ephemeral: int = 0
    swap: int = 0
    is_public: bool = True
    description: str | None = None
    extra_specs: dict[str, str] = field(default_factory=dict)
    projects: dict[str, None] = field(default_factory=dict)

    def copy(self) -> Flavor:
        """Return what a server keeps of it."""
        return Flavor(
            self.id, self.name, self.ram, self.vcpus, self.disk, self.ephemeral, self.swap, self.is_public,
            None, dict(self.extra_specs),
        )  # fmt: skip

    def embedded(self) -> dict[str, Any]:
        """Return it as the API shows it within a server."""
        return {
            "original_name": self.name,
            "ram": self.ram,
            "vcpus": self.vcpus,
            "disk": self.disk,
            "ephemeral": self.ephemeral,
            "swap": self.swap,
            "extra_specs": dict(self.extra_specs),
        }


@dataclass
class HostAggregate:
    """A host aggregate."""

    id: int
    uuid: str
    name: str
    created_at: str
    hosts: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def availability_zone(self) -> str | None:
        """Its availability zone, or None if it is not one."""
        return self.metadata.get("availability_zone")

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "id": self.id,
            "uuid": self.uuid,
            "name": self.name,
            "availability_zone": self.availability_zone,
            "hosts": list(self.hosts),
            "metadata": dict(self.metadata),
            "created_at": self.created_at,
            "updated_at": None,
            "deleted": False,
            "deleted_at": None,
        }


@dataclass
class Host:
    """A compute service with its only hypervisor.

    :ivar name: of the service, and of the hypervisor
    :ivar provider_id: id of the hypervisor and of its resource provider
    :ivar runs: whether the service runs
    :ivar reported: instant of its first report since it runs, or of its last one if it is stopped
    """

    name: str
    service_id: str
    provider_id: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    reported: float
    hypervisor_type: str = "fake"
    hypervisor_version: int = 1000
    cpu_info: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True
    disabled_reason: str | None = None
    forced_down: bool = False
    runs: bool = True
    cached_images: set[str] = field(default_factory=set)


@dataclass
class Event:
    """A part of an action, as a service of Nova has done it."""

    name: str
    start_time: str
    host: str | None = None
    finish_time: str | None = None
    result: str | None = None
    details: str | None = None

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "event": self.name,
            "start_time": self.start_time,
            "finish_time": self.finish_time,
            "result": self.result,
            "traceback": None,
            "host": self.host,
            "hostId": self.host or "",
            "details": self.details,
        }


@dataclass
class Action:
    """What somebody has asked Nova to do with a server."""

    name: str
    request_id: str
    project_id: str
    user_id: str
    start_time: str
    message: str | None = None
    events: list[Event] = field(default_factory=list)

    def shown(self, server_id: str, *, with_events: bool) -> dict[str, Any]:
        """Return it as the API shows it."""
        found: dict[str, Any] = {
            "action": self.name,
            "instance_uuid": server_id,
            "request_id": self.request_id,
            "project_id": self.project_id,
            "user_id": self.user_id,
            "start_time": self.start_time,
            "message": self.message,
            "updated_at": self.start_time,
        }
        return {**found, "events": [each.shown() for each in self.events]} if with_events else found


@dataclass
class Migration:
    """A move of a server.

    :ivar old_flavor: flavor before a resize
    """

    id: int
    uuid: str
    server_id: str
    kind: str
    status: str
    source: str
    project_id: str
    user_id: str
    created_at: str
    destination: str | None = None
    old_flavor: Flavor | None = None

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "id": self.id,
            "uuid": self.uuid,
            "instance_uuid": self.server_id,
            "migration_type": self.kind,
            "status": self.status,
            "source_compute": self.source,
            "source_node": self.source,
            "dest_compute": self.destination,
            "dest_node": self.destination,
            "dest_host": None,
            "old_instance_type_id": 1,
            "new_instance_type_id": 1,
            "created_at": self.created_at,
            "updated_at": self.created_at,
            "project_id": self.project_id,
            "user_id": self.user_id,
        }


@dataclass
class ServerGroup:
    """A server group."""

    id: str
    name: str
    policy: str
    project_id: str
    user_id: str
    members: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "policy": self.policy,
            "policies": [self.policy],
            "rules": {},
            "members": list(self.members),
            "metadata": {},
            "project_id": self.project_id,
            "user_id": self.user_id,
        }


@dataclass(frozen=True)
class Volume:
    """A volume of a server.

    :ivar size_gb: size of a volume that Nova creates; None for one that exists
    """

    id: str
    is_root: bool = False
    delete_on_termination: bool = False
    image_id: str | None = None
    size_gb: int | None = None
    volume_type: str | None = None


@dataclass(frozen=True)
class Asked:
    """What was asked for when a server was created, which counts whenever it is scheduled.

    :ivar hints: scheduler hint -> its values
    :ivar zone: availability zone, or None for any
    :ivar forced_host: host on which an administrator has had it built, without filters
    :ivar destination: host on which an administrator has had it built, with filters
    """

    hints: Mapping[str, list[str]] = field(default_factory=dict)
    zone: str | None = None
    forced_host: str | None = None
    destination: str | None = None


@dataclass
class Server:
    """A server.

    :ivar state: Nova's vm_state
    :ivar task: Nova's task_state, None if Nova does nothing with it
    :ivar host: name of its compute service, None if it is on none
    :ivar locked_by: ``owner`` or ``admin``
    :ivar old_state: state before a resize
    :ivar planned: name of the compute service that was chosen for it
    :ivar shelved_image: image that Nova made when it shelved the server
    :ivar devices: provider -> class -> amount, as its hypervisor was told
    """

    id: str
    name: str
    project_id: str
    user_id: str
    flavor: Flavor
    image_id: str | None
    asked: Asked
    created: str
    updated: str
    number: int
    state: str = states.BUILDING
    task: str | None = states.SCHEDULING
    power: int = states.NO_POWER
    host: str | None = None
    locked: bool = False
    locked_by: str | None = None
    locked_reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    description: str | None = None
    key_name: str | None = None
    user_data: str | None = None
    security_groups: tuple[str, ...] = ("default",)
    networks: Any = "none"
    volumes: list[Volume] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    launched_at: str | None = None
    terminated_at: str | None = None
    deleted: bool = False
    changed: float = 0.0
    fault: dict[str, Any] | None = None
    actions: list[Action] = field(default_factory=list)
    group_id: str | None = None
    old_state: str | None = None
    planned: str | None = None
    shelved_image: str | None = None
    devices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """Its status in the API."""
        return states.status(self.state, self.task)

    @property
    def boots_from_volume(self) -> bool:
        """Whether its root disk is a volume."""
        return any(each.is_root for each in self.volumes)
