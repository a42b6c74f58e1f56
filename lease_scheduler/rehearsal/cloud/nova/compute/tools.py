"""What all kinds of work with servers use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lease_scheduler.rehearsal.cloud.glance.store import Image
from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova.compute.computes import Computes, Order
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, PreemptedError, Work
from lease_scheduler.rehearsal.cloud.nova.records import Action, Server
from lease_scheduler.rehearsal.cloud.nova.scheduler.scheduler import Scheduler
from lease_scheduler.rehearsal.cloud.nova.store import Store
from lease_scheduler.rehearsal.cloud.placement.records import Consumer

_TYPE, _MIGRATION = "INSTANCE", "MIGRATION"


class Tools:
    """The parts of Nova, with small things that most work does."""

    def __init__(self, store: Store, computes: Computes, scheduler: Scheduler) -> None:
        self.store = store
        self.computes = computes
        self.scheduler = scheduler

    # -- messages --------------------------------------------------------------------------------------------

    def cast(
        self,
        server: Server,
        action: Action,
        method: str,
        make: Callable[[], Work],
        *,
        host: str | None = None,
        takes_turns: bool = False,
    ) -> None:
        """Tell a compute service to do something with a server.

        :param host: None for the host of the server
        """
        target = host or server.host
        if target is None:
            raise LookupError(f"server {server.id} is on no host")
        self.computes.cast(target, Order(method, server, action, f"compute_{method}", make, takes_turns))

    def conduct(self, server: Server, action: Action, method: str, do: Callable[[], None]) -> None:
        """Have nova-conductor do something with a server, which is done at once when its turn has come."""

        def work() -> Work:
            try:
                do()
            except Refusal as refusal:
                # Placement does not grant what the chosen host offers.
                self.store.fail(server, refusal.message, task=None)
                raise PreemptedError(refusal.message) from refusal
            yield from ()

        self.computes.later("schedule", Order(method, server, action, f"conductor_{method}", work))

    @staticmethod
    def call(server: Server, method: str) -> HypervisorCall:
        """Return a call of the hypervisor where the work is done."""
        return HypervisorCall(method, server.id)

    @staticmethod
    def is_gone(server: Server) -> bool:
        """Return whether a server was deleted, perhaps while work with it went on."""
        return server.deleted

    def expect(self, server: Server, *tasks: str | None) -> None:
        """Check that Nova still does with a server what it did before.

        :raises PreemptedError: something else was done with it meanwhile
        """
        if server.deleted or server.task not in tasks:
            expected = ", ".join(map(str, tasks))
            raise PreemptedError(f"Conflict updating instance {server.id}: expected {expected}, not {server.task}")

    def tell(self, event: str, server: Server, action: Action | None, host: str | None = None) -> None:
        """Notify of something that a compute service has done with a server."""
        self.store.notices.server(event, server, action, host or server.host)

    # -- Placement -------------------------------------------------------------------------------------------

    def claim(self, server: Server, amounts: Mapping[str, Mapping[str, int]]) -> None:
        """Have a server claim amounts, whatever it had before.

        :raises Refusal: Placement does not grant them
        """
        consumer = Consumer(server.id, server.project_id, server.user_id, _TYPE)
        self.store.placement.allocate({server.id: (consumer, amounts)})

    def move_claims(self, server: Server, migration_id: str, amounts: Mapping[str, Mapping[str, int]]) -> None:
        """Have a migration take over what a server has, and the server claim what it needs on its next host.

        A server that has nothing of its own host keeps what it has elsewhere, as after a move that was broken off.

        :raises Refusal: Placement does not grant it; nothing is changed then
        """
        held = self.store.placement.held(server.id)
        if self.store.hosts[str(server.host)].provider_id not in held:
            # What it has already of a provider stays as it is, even if it is less.
            self.claim(server, {**amounts, **held})
            return
        migration = Consumer(migration_id, server.project_id, server.user_id, _MIGRATION)
        consumer = Consumer(server.id, server.project_id, server.user_id, _TYPE)
        self.store.placement.allocate({server.id: (consumer, amounts), migration_id: (migration, held)})

    def return_claims(self, server: Server, migration_id: str) -> None:
        """Give a server back what a migration has of it."""
        held = self.store.placement.held(migration_id)
        if not held:
            return
        consumer = Consumer(server.id, server.project_id, server.user_id, _TYPE)
        empty = Consumer(migration_id, server.project_id, server.user_id, _MIGRATION)
        self.store.placement.allocate({migration_id: (empty, {}), server.id: (consumer, held)})

    def release(self, consumer_id: str) -> bool:
        """Release what a consumer has. Return False if Placement refuses."""
        if not self.computes.releases(consumer_id):
            return False
        self.store.placement.release(consumer_id)
        return True

    # -- images ----------------------------------------------------------------------------------------------

    def new_image(self, server: Server, name: str, kind: str, identity: Identity, said: Mapping[str, object]) -> Image:
        """Create an image without content for a server."""
        properties: dict[str, object] = {"instance_uuid": server.id, "user_id": identity.user_id, "image_type": kind}
        is_own = identity.project_id == server.project_id
        visibility = "private" if is_own else "shared"
        base = self.store.glance.images.get(server.image_id or "")
        more = {
            "visibility": visibility,
            "min_disk": server.flavor.disk,
            "min_ram": 0 if base is None else base.min_ram,
        }
        if server.image_id is not None:
            properties["base_image_ref"] = server.image_id
        made = self.store.glance.add(name, identity.project_id, {**properties, **more, **said})
        if not is_own:
            made.members[server.project_id] = "accepted"
        return made

    def complete_image(self, image_id: str) -> None:
        """Note that the content of an image is stored, if the image still exists."""
        image = self.store.glance.images.get(image_id)
        if image is not None:
            image.status, image.size = "active", 25_165_824

    def remove_image(self, image_id: str | None) -> None:
        """Remove an image, unless it is protected."""
        image = self.store.glance.images.get(image_id or "")
        if image is not None and not image.protected:
            del self.store.glance.images[image.id]
