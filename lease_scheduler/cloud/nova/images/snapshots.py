"""Images of servers that end with their lease.

An image is found again by a key that only administrators can read (see ``image_records``), so only one is made, even if
another engine began it. The image belongs to the project of the server. Before the end of the lease, it is made of the
running server. At the end, the server is stopped first, so that its users can neither use it nor delay its end.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from threading import Lock
from time import monotonic
from typing import Any

from keystoneauth1.exceptions import ClientException as NoLoginError
from novaclient.exceptions import BadRequest, ClientException, Forbidden, Unauthorized

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.images import GlanceImages, Image
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.images.image_records import ImageRecord, ImageRecords, new_key
from lease_scheduler.cloud.nova.images.stopping import Stop, Stopping
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.durations import in_words

LOG = logging.getLogger(__name__)

#: Properties of an image: its key, its server, its moment and its lease.
_KEY, _SERVER, _MOMENT, _LEASE = "lease_image", "lease_server", "lease_moment", "lease_id"

#: Moment of images that are made at the end of a lease. The moment of earlier images is the instant of their action.
AT_END = "end"

#: States in which Nova can make an image of a server.
_HAS_DISK = frozenset({of.ACTIVE, of.STOPPED, of.PAUSED, of.SUSPENDED})

#: States in which Nova already has an image of the server. It deletes this image with the server.
_IS_SHELVED = frozenset({of.SHELVED, of.OFFLOADED})

#: Maximum number of attempts to make an image of a server.
_ATTEMPTS = 3

#: Seconds after an attempt began for which its image may be incomplete although Nova does nothing with the server.
_JUST_BEGUN = 30

#: Real seconds after the end of a lease after which an image that users make of its server is broken off.
_GRACE = 5

#: Maximum number of images by users that are broken off. If they make another one, our image is given up.
_MOST_BROKEN_OFF = 3

#: Called for a server without an image, with the ids of lease and server and the reason.
OnFailure = Callable[[str, str, str], None]


@dataclass(frozen=True)
class SnapshotOptions:
    """Options of images of servers.

    :ivar prefix: prefix of the names of images that are made before the end of a lease
    :ivar timeout: seconds after the end of its lease for which a server is kept for its image
    """

    prefix: str = "reserved_"
    timeout: int = 1800


@dataclass(frozen=True)
class Wish:
    """An image that a lease wants.

    :ivar server: the server, as novaclient lists it
    :ivar name: name of the image
    :ivar moment: moment of a new image
    :ivar other_moments: moments of existing images that suffice, too
    :ivar trust_id: trust that the project of the server gave the service, or None
    """

    lease_id: str
    server: Any
    name: str
    moment: str
    other_moments: tuple[str, ...] = ()
    trust_id: str | None = None


class _State(Enum):
    SAFE = "safe"
    GOING_ON = "going on"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class _Progress:
    """Progress of the image of a server."""

    state: _State
    is_begun: bool = False
    reason: str = ""


_GOING_ON = _Progress(_State.GOING_ON)


class Snapshots:
    """The making of images.

    :param nova: novaclient's client with administrator rights
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    :param lost: detects commands that Nova has lost
    :param leave_books: removes the allocations of a server in Placement
    """

    def __init__(
        self,
        clock: WaitingClock,
        nova: Any,
        on_behalf_of: Callable[[str | None], Any],
        images: GlanceImages,
        records: ImageRecords,
        lost: LostCommands,
        locks: Locks,
        leave_books: Callable[[str], None],
        options: SnapshotOptions,
    ) -> None:
        self._clock = clock
        self._nova = nova
        self._on_behalf_of = on_behalf_of
        self._images = images
        self._records = records
        self._lost = lost
        self._stopping = Stopping(nova, lost, locks)
        self._leave_books = leave_books
        self._options = options
        self._lock = Lock()
        self._why: dict[str, str] = {}
        self._broken_off: Counter[str] = Counter()
        self._waiting_since: dict[str, float] = {}
        #: Called for servers that are deleted without an image.
        self.on_failure: OnFailure = lambda *_: None

    def name(self, server: Any, *, before_end: bool) -> str:
        """Return the name of the image of a server."""
        return f"{self._options.prefix}{server.name}" if before_end else f"{server.name}-{server.id}"

    # -- before the end --------------------------------------------------------------------------------------

    def begin(self, wishes: Iterable[Wish]) -> bool:
        """Begin images, without waiting for them. Return whether all that can be made are begun."""
        progress = [(wish, self._progress(wish, None)) for wish in wishes]
        for wish, found in progress:
            if found.state is _State.IMPOSSIBLE:
                LOG.warning("no image of server %s can be made before its end: %s", wish.server.id, found.reason)
        return all(found.is_begun or found.state is not _State.GOING_ON for _, found in progress)

    # -- at the end ------------------------------------------------------------------------------------------

    def set_apart(self, lease_id: str, wishes: Iterable[Wish]) -> bool:
        """Stop servers and remove their allocations in Placement, so that their hosts are free for other leases.

        Servers that have an image already, claim devices or cannot be stopped are left as they are.

        :return: whether everything possible is done
        """
        # Since the first call, not since the end of the lease, as another engine or earlier steps may have taken long.
        waited = self._waited(lease_id)
        are_done = [self._is_apart(wish, waited) for wish in wishes]
        return all(are_done)

    def _is_apart(self, wish: Wish, waited: float) -> bool:
        server, record = wish.server, self._record(wish)
        if record.is_apart:
            return True
        if server.status in _IS_SHELVED or of.claims_devices(server) or self._complete(wish, record) is not None:
            return True
        found = self._stopping.stop(server, waited)
        if found is Stop.STOPPED:
            # First the record: an engine that takes over must know why the server has no allocations in Placement.
            self._write(wish, replace(record, is_apart=True, since=self._clock.now()))
            self._leave_books(server.id)
        return found is not Stop.GOING_ON

    def apart(self, lease_id: str) -> Mapping[str, int]:
        """Return the servers of a lease that are set apart -> instant since when."""
        records = self._records.of_lease(lease_id)
        return {server_id: record.since for server_id, record in records.items() if record.is_apart}

    def finish(self, lease_id: str, wishes: Iterable[Wish], late: float | None) -> bool:
        """Make images. Return whether the servers may be deleted.

        They may be deleted when each image is complete, cannot be made, or has taken longer than the operator allows. A
        server that still runs is stopped first. ``on_failure`` is called once for each server without an image, even
        if its deletion takes long.

        :param late: seconds since the end of the lease began; None counts from the first call in this process
        """
        waited = self._waited(lease_id)
        expected = [wish for wish in wishes if not self._record(wish).is_lost]
        progress = [(wish, self._progress(wish, waited)) for wish in expected]
        is_too_late = (waited if late is None else late) >= self._options.timeout
        if not is_too_late and any(found.state is _State.GOING_ON for _, found in progress):
            return False
        for wish, found in progress:
            if found.state is not _State.SAFE:
                reason = found.reason or f"its image is not complete after {in_words(self._options.timeout)}"
                LOG.error("server %s of lease %s is deleted without an image: %s", wish.server.id, lease_id, reason)
                self.on_failure(lease_id, wish.server.id, reason)
                # Afterwards, so that the project is told even if the engine is killed in between.
                self._write(wish, replace(self._record(wish), is_lost=True))
        with self._lock:
            self._waiting_since.pop(lease_id, None)
            for wish, _ in progress:
                self._why.pop(wish.server.id, None)
                self._broken_off.pop(wish.server.id, None)
        return True

    def release(self, lease_id: str, project_id: str) -> None:
        """Remove the protection that kept images from being deleted with their shelved servers."""
        for image in self._images.find(project_id, **{_LEASE: lease_id, "protected": "true"}):
            self._images.change(image.image_id, protected=False)

    def _waited(self, lease_id: str) -> float:
        with self._lock:
            return monotonic() - self._waiting_since.setdefault(lease_id, monotonic())

    # -- one image -------------------------------------------------------------------------------------------

    def _progress(self, wish: Wish, waited: float | None) -> _Progress:
        """Do the next step for an image, and return its progress.

        :param waited: real seconds since the images at the end of the lease were first handled; None before the end
        """
        server, record = wish.server, self._record(wish)
        found = self._found(wish, record)
        image = found[0] if found else None
        if image is not None and image.is_complete:
            self._hand_over(wish, image)
            return _Progress(_State.SAFE)
        is_made_now = image is not None and of.makes_image(server)
        if of.is_busy(server) and (is_made_now or waited is None):
            return self._busy(server, is_begun=image is not None)
        if server.status in _IS_SHELVED and not of.is_busy(server):
            return self._adopted(wish, record)
        if server.status == of.VERIFY_RESIZE and not of.is_busy(server):
            of.command(self._nova.servers.confirm_resize, server)
            return _GOING_ON
        if waited is not None and not of.is_busy(server) and server.status not in _HAS_DISK:
            return _impossible(server)
        if waited is not None and not record.is_apart:
            # Stop it even while users make an image of it, as they could begin one after the other.
            stopped = self._stopping.stop(server, waited)
            if stopped is Stop.IMPOSSIBLE:
                return _Progress(_State.IMPOSSIBLE, reason="it cannot be stopped")
            if stopped is Stop.GOING_ON:
                return _GOING_ON
        if of.makes_image(server) and waited is not None and waited >= _GRACE:
            if not self._breaks_off(server):
                return _Progress(_State.IMPOSSIBLE, reason="its users make one image of it after the other")
        elif of.is_busy(server):
            return self._busy(server, is_begun=False)
        if server.status not in _HAS_DISK:
            return _impossible(server)
        if image is not None and self._clock.now() - record.at < _JUST_BEGUN:
            return _Progress(_State.GOING_ON, is_begun=True)
        for each in found[:1]:
            # The service that should have uploaded it has died.
            self._images.delete(each.image_id)
        return self._create(wish, record)

    def _breaks_off(self, server: Any) -> bool:
        """Break off an image that users make of a server. Return False if they have made too many."""
        with self._lock:
            self._broken_off[server.id] += 1
            if self._broken_off[server.id] > _MOST_BROKEN_OFF:
                return False
        self._lost.reset(server)
        return True

    def _busy(self, server: Any, *, is_begun: bool) -> _Progress:
        try:
            self._lost.repair(server)
        except StepFailedError as error:
            return _Progress(_State.IMPOSSIBLE, reason=str(error))
        return _Progress(_State.GOING_ON, is_begun)

    def _record(self, wish: Wish) -> ImageRecord:
        """Return the record of an image with a moment that suffices, or a new record."""
        record = self._records.of_lease(wish.lease_id).get(wish.server.id)
        if record is not None and record.moment in (wish.moment, *wish.other_moments):
            return record
        return ImageRecord(wish.moment, "", 0, 0, self._clock.now())

    def _write(self, wish: Wish, record: ImageRecord) -> None:
        self._records.write(wish.lease_id, wish.server.id, record)

    def _found(self, wish: Wish, record: ImageRecord) -> list[Image]:
        """Return the images with the key of a record, oldest first. The oldest is ours, as it revealed the key."""
        if not record.key:
            return []
        owners = dict.fromkeys((wish.server.tenant_id, self._images.own_project))
        found = [
            image for owner in owners if owner is not None for image in self._images.find(owner, **{_KEY: record.key})
        ]
        return sorted(found, key=lambda image: image.age, reverse=True)

    def _complete(self, wish: Wish, record: ImageRecord) -> Image | None:
        found = self._found(wish, record)
        return found[0] if found and found[0].is_complete else None

    def _hand_over(self, wish: Wish, image: Image) -> None:
        """Give an image that the service owns to the project of the server."""
        owner = wish.server.tenant_id
        if image.owner != owner:
            self._images.change(image.image_id, owner=owner)

    def _create(self, wish: Wish, record: ImageRecord) -> _Progress:
        server = wish.server
        if record.attempts >= _ATTEMPTS:
            with self._lock:
                why = self._why.get(server.id, "Nova does not complete it")
            return _Progress(_State.IMPOSSIBLE, reason=f"tried {_ATTEMPTS} times: {why}")
        attempt = replace(record, key=new_key(), attempts=record.attempts + 1, at=self._clock.now())
        self._write(wish, attempt)
        try:
            self._command(
                wish,
                {_KEY: attempt.key, _SERVER: server.id, _MOMENT: wish.moment, _LEASE: wish.lease_id},
            )
        except (BadRequest, Forbidden) as error:
            LOG.warning("Nova refuses to make an image of server %s: %s", server.id, error.message)
            with self._lock:
                self._why[server.id] = f"Nova refuses: {error.message}"
        except ClientException as error:
            if not of.is_gone_or_busy(error):
                raise
            # The next call sees this in the state of the server.
            self._write(wish, record)
        return _GOING_ON

    def _command(self, wish: Wish, properties: dict[str, str]) -> None:
        if wish.trust_id is not None:
            try:
                self._on_behalf_of(wish.trust_id).servers.create_image(wish.server.id, wish.name, properties)
            except (NoLoginError, Unauthorized) as error:
                # A trust ends when the user leaves the project, but their work must be saved.
                LOG.warning(
                    "the trust of lease %s cannot be used, so the service makes the image: %s", wish.lease_id, error
                )
            else:
                return
        self._nova.servers.create_image(wish.server.id, wish.name, properties)

    def _adopted(self, wish: Wish, record: ImageRecord) -> _Progress:
        """Take over Nova's image of a shelved server, and protect it, because Nova would delete it with the server."""
        server, owner = wish.server, wish.server.tenant_id
        ours = self._images.own_project
        shelved = {"name": f"{server.name}-shelved", "instance_uuid": server.id}
        for project_id in dict.fromkeys((owner, *(() if ours is None else (ours,)))):
            for image in self._images.find(project_id, **shelved):
                if image.is_complete:
                    key = new_key()
                    self._write(wish, replace(record, key=key))
                    named = {_KEY: key, _SERVER: server.id, _MOMENT: wish.moment, _LEASE: wish.lease_id}
                    self._images.change(image.image_id, name=wish.name, owner=owner, protected=True, **named)
                    return _Progress(_State.SAFE)
        return _Progress(_State.IMPOSSIBLE, reason="it is shelved, and Nova has no image of its own disk")


def _impossible(server: Any) -> _Progress:
    return _Progress(_State.IMPOSSIBLE, reason=f"Nova makes none of a server that is {server.status}")
