"""A fake hypervisor with a size for each host, a delay at each step, and servers that outlive the process."""

from __future__ import annotations

import io
import json
import time
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

from nova.image import glance
from nova.virt import fake

#: Steps that may be delayed, and those that change which servers the host has or their states.
_STEPS = (
    "destroy",
    "power_on",
    "power_off",
    "suspend",
    "resume",
    "live_migration",
    "migrate_disk_and_power_off",
    "finish_revert_migration",
)
_CHANGING = frozenset({"destroy", "power_on", "power_off", "finish_revert_migration"})


def node_uuid(name: str) -> str:
    """Return the identity of a host, which is the same after every start."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.lab.invalid"))


class LabDriver(fake.FakeDriver):  # type: ignore[misc]
    """Nova's own fake driver, with additions."""

    _hosts_file: Path
    _folder: Path
    _of_all = Lock()

    @classmethod
    def configure(cls, hosts_file: Path, folder: Path) -> None:
        """Set the file with the sizes and delays of the hosts, and the folder in which their servers are remembered."""
        cls._hosts_file, cls._folder = hosts_file, folder

    def init_host(self, host: str) -> None:
        """Take the size of the host, and the servers that it had."""
        self._of_host = Lock()
        size = self._settings(host)
        self.vcpus, self.memory_mb, self.local_gb = size["vcpus"], size["memory_mb"], size["disk_gb"]
        self.resources = fake.Resources(self.vcpus, self.memory_mb, self.local_gb)
        super().init_host(host)
        self._memory = self._folder / f"{host}.json"
        if self._memory.exists():
            for server, (name, state) in json.loads(self._memory.read_text()).items():
                self.instances[server] = fake.FakeInstance(name, state, server)
        self._cache = self._folder / f"{host}-images.json"

    def cache_image(self, context: Any, image_id: str) -> bool:
        """Cache an image; return False if it was cached already."""
        if image_id in self._cached():
            return False
        self._pause("cache_image")
        self._keep(image_id)
        return True

    def spawn(self, context: Any, instance: Any, image_meta: Any, *words: Any, **options: Any) -> None:
        """Spawn as the fake driver does, and put the image into the cache."""
        self._pause("spawn")
        super().spawn(context, instance, image_meta, *words, **options)
        # The destination of a live migration spawns a server without an image.
        if image_meta is not None and "id" in image_meta:
            self._keep(image_meta.id)
        self._remember()

    def snapshot(self, context: Any, instance: Any, image_id: str, update_task_state: Any) -> None:
        """Take a snapshot as the fake driver does, and also upload some content to the image, as real drivers do."""
        self._pause("snapshot")
        super().snapshot(context, instance, image_id, update_task_state)
        images = glance.API()
        description = {
            "name": images.get(context, image_id)["name"],
            "status": "active",
            "disk_format": "raw",
            "container_format": "bare",
            "properties": {},
        }
        images.update(context, image_id, description, io.BytesIO(instance.uuid.encode()), purge_props=False)

    def _cached(self) -> list[str]:
        found: list[str] = json.loads(self._cache.read_text()) if self._cache.exists() else []
        return found

    def _keep(self, image_id: str) -> None:
        new = self._cache.with_suffix(".new")
        new.write_text(json.dumps(sorted({*self._cached(), image_id})))
        new.rename(self._cache)

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        """Return size and identity of the host; the fake driver makes up another identity in each process."""
        found: dict[str, Any] = super().get_available_resource(nodename)
        return found | {"uuid": node_uuid(nodename)}

    def get_nodenames_by_uuid(self, refresh: bool = False) -> dict[str, str]:
        """Return the only node of the host."""
        return {node_uuid(name): name for name in self.get_available_nodes()}

    def get_host_uptime(self) -> str:
        """Return an uptime: hypervisor details need one, and the fake driver has none."""
        return "up 1 day"

    def post_live_migration_at_source(self, context: Any, instance: Any, network_info: Any) -> None:
        """Remove the server from this host, which the fake driver forgets."""
        self.instances.pop(instance.uuid, None)
        self._remember()

    def _settings(self, host: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._hosts_file.read_text())[host]
        return found

    def _pause(self, step: str) -> None:
        # Read each time, so that a test can change it.
        settings = self._settings(self._host)
        locks = {"host": self._of_host, "all": self._of_all}
        with locks.get(settings.get("turns", ""), nullcontext()):
            time.sleep(settings["delays"].get(step, 0))

    def _remember(self) -> None:
        new = self._memory.with_suffix(".new")
        new.write_text(json.dumps({server: (each.name, each.state) for server, each in self.instances.items()}))
        new.rename(self._memory)


def _with_pause(step: str) -> Callable[..., Any]:
    """Return the fake driver's method with a delay before it; afterwards, changed servers are saved."""
    method = getattr(fake.FakeDriver, step)

    def call(self: LabDriver, *words: Any, **options: Any) -> Any:
        self._pause(step)
        try:
            return method(self, *words, **options)
        finally:
            if step in _CHANGING:
                self._remember()

    return call


for _step in _STEPS:
    setattr(LabDriver, _step, _with_pause(_step))
