"""Commands that make images of servers, or put servers into images and out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.locks import WITH_DISK, check_host, check_lock, check_state
from lease_scheduler.rehearsal.cloud.nova.api.switches import Asking


class ImageActions:
    """The commands."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        self.commands: Mapping[str, Callable[[Asking, Any], Answer | None]] = {
            "createImage": self._create_image,
            "createBackup": self._create_backup,
            "shelve": self._shelve,
            "shelveOffload": self._offload,
            "unshelve": self._unshelve,
        }

    def _create_image(self, asking: Asking, said: Any) -> Answer:
        server, tools = asking.server, self._context.tools
        check_host(server)
        check_state(server, "createImage", WITH_DISK)
        image = tools.new_image(server, said["name"], "snapshot", asking.identity, said.get("metadata") or {})
        self._store.change(server, task=states.IMAGE_SNAPSHOT_PENDING)
        action = self._store.act(server, "createImage", asking.identity)
        self._context.imaging.snapshot(server, action, image)
        return Answer(202, {"image_id": image.id})

    def _create_backup(self, asking: Asking, said: Any) -> Answer:
        server, tools = asking.server, self._context.tools
        check_host(server)
        check_state(server, "createBackup", WITH_DISK)
        named = {"backup_type": said["backup_type"], **(said.get("metadata") or {})}
        image = tools.new_image(server, said["name"], "backup", asking.identity, named)
        self._store.change(server, task=states.IMAGE_BACKUP)
        action = self._store.act(server, "createBackup", asking.identity)
        self._context.imaging.backup(server, action, image, int(said["rotation"]))
        return Answer(202, {"image_id": image.id})

    def _shelve(self, asking: Asking, said: Any) -> None:
        server, tools = asking.server, self._context.tools
        check_lock(server, asking.identity)
        check_host(server)
        check_state(server, "shelve", WITH_DISK)
        image = None
        if not server.boots_from_volume:
            image = tools.new_image(server, f"{server.name}-shelved", "snapshot", asking.identity, {})
        self._store.change(server, task=states.SHELVING)
        self._context.imaging.shelve(server, self._store.act(server, "shelve", asking.identity), image)

    def _offload(self, asking: Asking, said: Any) -> None:
        server = asking.server
        self._context.admin(asking.request, "os-shelve:shelve_offload")
        check_state(server, "shelveOffload", (states.SHELVED,))
        self._store.change(server, task=states.SHELVING_OFFLOADING)
        self._context.imaging.offload(server, self._store.act(server, "shelveOffload", asking.identity))

    def _unshelve(self, asking: Asking, said: Any) -> None:
        server, said = asking.server, said or {}
        check_lock(server, asking.identity)
        check_state(server, "unshelve", (states.SHELVED, states.SHELVED_OFFLOADED))
        host = said.get("host")
        if host is not None:
            self._context.admin(asking.request, "os-shelve:unshelve_to_host")
            if server.state != states.SHELVED_OFFLOADED:
                raise Refusal(409, f"Cannot unshelve instance {server.id}: it is not offloaded")
            if host not in self._store.hosts:
                raise Refusal(400, f"Compute host {host} could not be found.")
        self._store.change(server, task=states.UNSHELVING)
        self._context.imaging.unshelve(server, self._store.act(server, "unshelve", asking.identity), host)
