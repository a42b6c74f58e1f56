"""Images are made of servers, and servers are shelved into images and out of them."""

from __future__ import annotations

from collections.abc import Callable

from lease_scheduler.rehearsal.cloud.glance.store import Image
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.building import NO_HOST
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError, PreemptedError, Work
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import Action, Server


class Imaging:
    """Snapshots, backups, shelving and unshelving."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    # -- snapshots -------------------------------------------------------------------------------------------

    def snapshot(self, server: Server, action: Action, image: Image) -> None:
        """Make an image of a server."""
        self._cast_image(server, action, image, "snapshot_instance", states.IMAGE_SNAPSHOT_PENDING, lambda: None)

    def backup(self, server: Server, action: Action, image: Image, rotation: int) -> None:
        """Make an image of a server, and remove older ones of its type.

        :param rotation: number of images to keep
        """

        def rotate() -> None:
            kind = image.properties.get("backup_type")
            images = self._tools.store.glance.images
            mine = [
                each
                for each in images.values()
                if (each.properties.get("instance_uuid"), each.properties.get("backup_type")) == (server.id, kind)
            ]
            for each in mine[: max(0, len(mine) - rotation)]:
                self._tools.remove_image(each.id)

        self._cast_image(server, action, image, "backup_instance", states.IMAGE_BACKUP, rotate)

    def _cast_image(
        self, server: Server, action: Action, image: Image, message: str, task: str, then: Callable[[], None]
    ) -> None:
        def work() -> Work:
            tools = self._tools
            try:
                tools.expect(server, task)
                if task == states.IMAGE_SNAPSHOT_PENDING:
                    tools.store.change(server, task=states.IMAGE_SNAPSHOT)
                present = server.task
                tools.tell("snapshot.start", server, action)
                yield tools.call(server, "snapshot")
                tools.expect(server, present)
                tools.store.change(server, task=states.IMAGE_UPLOADING)
                image.status = "saving"
                yield tools.computes.seconds("message")
                tools.expect(server, states.IMAGE_UPLOADING)
            except (HypervisorError, PreemptedError):
                tools.remove_image(image.id)
                raise
            tools.complete_image(image.id)
            then()
            tools.store.change(server, task=None)
            tools.tell("snapshot.end", server, action)

        self._tools.cast(server, action, message, work)

    # -- shelving --------------------------------------------------------------------------------------------

    def shelve(self, server: Server, action: Action, image: Image | None) -> None:
        """Put a server into an image.

        :param image: None for a server whose root disk is a volume
        """
        if image is None:
            self.offload(server, action)
            return
        self._tools.cast(
            server, action, "shelve_instance", lambda: self._shelved(server, action, image), takes_turns=True
        )

    def offload(self, server: Server, action: Action) -> None:
        """Remove a shelved server from its host."""
        self._tools.cast(
            server, action, "shelve_offload_instance", lambda: self._offloaded(server, action), takes_turns=True
        )

    def _shelved(self, server: Server, action: Action, image: Image) -> Work:
        tools, at_once = self._tools, self._tools.store.options.shelved_offload_time
        tools.tell("shelve.start", server, action)
        yield tools.call(server, "power_off")
        tools.store.change(server, power=states.SHUTDOWN)
        tools.expect(server, states.SHELVING)
        tools.store.change(server, task=states.SHELVING_PENDING)
        yield tools.call(server, "snapshot")
        tools.expect(server, states.SHELVING_PENDING)
        tools.store.change(server, task=states.SHELVING_UPLOADING)
        image.status = "saving"
        yield tools.computes.seconds("message")
        tools.expect(server, states.SHELVING_UPLOADING)
        tools.complete_image(image.id)
        task = states.SHELVING_OFFLOADING if at_once == 0 else None
        tools.store.change(server, state=states.SHELVED, task=task, shelved_image=image.id)
        tools.tell("shelve.end", server, action)
        if at_once == 0:
            yield from self._offloaded(server, action)
        elif at_once > 0:
            tools.store.timing.call_later(at_once, lambda: self._offload_if_shelved(server, action))

    def _offload_if_shelved(self, server: Server, action: Action) -> None:
        if not server.deleted and server.state == states.SHELVED and server.task is None:
            self._tools.store.change(server, task=states.SHELVING_OFFLOADING)
            self.offload(server, action)

    def _offloaded(self, server: Server, action: Action) -> Work:
        tools, host = self._tools, server.host
        tools.tell("shelve_offload.start", server, action)
        if server.power == states.RUNNING:
            yield tools.call(server, "power_off")
        yield tools.call(server, "destroy")
        tools.release(server.id)
        tools.expect(server, states.SHELVING, states.SHELVING_OFFLOADING)
        tools.store.change(
            server, state=states.SHELVED_OFFLOADED, task=None, host=None, planned=None, power=states.SHUTDOWN
        )
        tools.tell("shelve_offload.end", server, action, host)

    # -- unshelving ------------------------------------------------------------------------------------------

    def unshelve(self, server: Server, action: Action, destination: str | None) -> None:
        """Bring a shelved server back.

        :param destination: the only host that it may get; None for any
        """
        self._tools.conduct(
            server, action, "unshelve_server", lambda: self._begin_unshelving(server, action, destination)
        )

    def _begin_unshelving(self, server: Server, action: Action, destination: str | None) -> None:
        tools = self._tools
        tools.expect(server, states.UNSHELVING)
        if server.state == states.SHELVED:
            tools.cast(server, action, "start_instance", lambda: self._woken(server, action))
            return
        choice = tools.scheduler.choose(server, server.flavor, destination=destination)
        if choice is None:
            tools.store.fail(server, NO_HOST, task=None)
            tools.store.notices.no_host(server, action, "unshelve_server.error")
            raise PreemptedError(NO_HOST)
        tools.claim(server, choice.amounts)
        tools.store.change(server, planned=choice.host, devices=choice.amounts)
        tools.cast(
            server,
            action,
            "unshelve_instance",
            lambda: self._unshelved(server, action, choice.host),
            host=choice.host,
            takes_turns=True,
        )

    def _woken(self, server: Server, action: Action) -> Work:
        tools = self._tools
        yield tools.call(server, "power_on")
        tools.expect(server, states.UNSHELVING)
        self._is_back(server, action)

    def _unshelved(self, server: Server, action: Action, host: str) -> Work:
        tools = self._tools
        tools.expect(server, states.UNSHELVING)
        tools.tell("unshelve.start", server, action, host)
        tools.store.change(server, task=states.SPAWNING, host=host)
        try:
            yield tools.call(server, "spawn")
            tools.expect(server, states.SPAWNING)
        except HypervisorError:
            tools.release(server.id)
            tools.store.change(server, host=None, planned=None)
            raise
        self._is_back(server, action)

    def _is_back(self, server: Server, action: Action) -> None:
        tools = self._tools
        tools.remove_image(server.shelved_image)
        now = tools.store.timing.stamp()
        tools.store.change(
            server, state=states.ACTIVE, power=states.RUNNING, task=None, shelved_image=None, launched_at=now
        )
        tools.tell("unshelve.end", server, action)
