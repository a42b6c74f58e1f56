"""Images of servers that end with their lease.

An image is found again by its properties, so only one is made, even if another engine began it. It belongs to the
project of the server. Images of other projects with the same properties are ignored, because anyone can create them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from time import monotonic
from typing import Any

from keystoneauth1.exceptions import ClientException as NoLoginError
from novaclient.exceptions import BadRequest, Conflict, Forbidden, NotFound, Unauthorized

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.images import GlanceImages, Image
from lease_scheduler.cloud.nova.lost import LostCommands
from lease_scheduler.model.durations import in_words

LOG = logging.getLogger(__name__)

#: Properties of an image: its server, its moment and its lease.
_SERVER, _MOMENT, _LEASE = "lease_server", "lease_moment", "lease_id"

#: Moment of images that are made at the end of a lease. For images before the end it is the instant of the action.
AT_END = "end"

#: States in which Nova can make an image of a server.
_HAS_DISK = frozenset({of.ACTIVE, of.STOPPED, of.PAUSED, of.SUSPENDED})

#: States in which Nova has an image of the server already, which it deletes with the server.
_IS_SHELVED = frozenset({of.SHELVED, of.OFFLOADED})

#: Maximum number of attempts to make an image of a server.
_ATTEMPTS = 3

#: Real seconds for which an incomplete image of an idle server counts as just begun.
_JUST_BEGUN = 30.0

#: Called for a server without an image, with the ids of lease and server and the reason.
OnFailure = Callable[[str, str, str], None]


@dataclass(frozen=True)
class SnapshotOptions:
    """How images of servers are made, set by the operator.

    :ivar prefix: prefix of the names of images that are made before the end of a lease
    :ivar timeout: seconds for which the end of a lease waits for its images
    """

    prefix: str = "reserved_"
    timeout: int = 1800


@dataclass(frozen=True)
class Wish:
    """An image that is wanted.

    :ivar server: the server, as novaclient lists it
    :ivar name: name of the image
    :ivar moment: moment of a new image
    :ivar other_moments: moments of existing images that will do as well
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
    """See the module.

    :param nova: novaclient's client with administrator rights
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    :param lost: detects commands that Nova has lost
    """

    def __init__(
        self,
        nova: Any,
        on_behalf_of: Callable[[str | None], Any],
        images: GlanceImages,
        lost: LostCommands,
        options: SnapshotOptions,
    ) -> None:
        self._nova = nova
        self._on_behalf_of = on_behalf_of
        self._images = images
        self._lost = lost
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._why: dict[tuple[str, str], str] = {}
        self._waiting_since: dict[str, float] = {}
        #: Called for servers that are deleted without an image.
        self.on_failure: OnFailure = lambda *_: None

    def name(self, server: Any, *, before_end: bool) -> str:
        """Return the name of the image of a server."""
        return f"{self._options.prefix}{server.name}" if before_end else f"{server.name}-{server.id}"

    def begin(self, wishes: Iterable[Wish]) -> bool:
        """Begin images, without waiting for them. Return whether all are begun that can be made."""
        progress = [(wish, self._progress(wish)) for wish in wishes]
        for wish, found in progress:
            if found.state is _State.IMPOSSIBLE:
                LOG.warning("no image of server %s can be made before its end: %s", wish.server.id, found.reason)
        return all(found.is_begun or found.state is not _State.GOING_ON for _, found in progress)

    def finish(self, lease_id: str, wishes: Iterable[Wish], late: float | None) -> bool:
        """Make images. Return whether the servers may be deleted.

        They may when each image is complete, cannot be made, or has taken longer than the operator allows.

        :param late: seconds since the end of the lease began; None counts from the first call in this process
        """
        waited = self._waited(lease_id) if late is None else late
        is_too_late = waited >= self._options.timeout
        progress = [(wish, self._progress(wish)) for wish in wishes]
        if not is_too_late and any(found.state is _State.GOING_ON for _, found in progress):
            return False
        for wish, found in progress:
            if found.state is not _State.SAFE:
                reason = found.reason or f"its image is not complete after {in_words(self._options.timeout)}"
                LOG.error("server %s of lease %s is deleted without an image: %s", wish.server.id, lease_id, reason)
                self.on_failure(lease_id, wish.server.id, reason)
        with self._lock:
            self._waiting_since.pop(lease_id, None)
            for wish, _ in progress:
                self._attempts.pop(_key(wish), None)
                self._why.pop(_key(wish), None)
        return True

    def release(self, lease_id: str, project_id: str) -> None:
        """Remove the protection of images, which kept them from being deleted with their shelved servers."""
        for image in self._images.find(project_id, **{_LEASE: lease_id, "protected": "true"}):
            self._images.change(image.image_id, protected=False)

    def _waited(self, lease_id: str) -> float:
        with self._lock:
            return monotonic() - self._waiting_since.setdefault(lease_id, monotonic())

    def _progress(self, wish: Wish) -> _Progress:
        server = wish.server
        found = self._found(wish)
        if any(image.is_complete for image in found):
            return _Progress(_State.SAFE)
        if of.is_busy(server):
            return self._busy(server, is_begun=bool(found))
        if server.status in _IS_SHELVED:
            return self._adopted(wish)
        if server.status == of.VERIFY_RESIZE:
            of.command(self._nova.servers.confirm_resize, server)
            return _GOING_ON
        if server.status not in _HAS_DISK:
            return _Progress(_State.IMPOSSIBLE, reason=f"Nova makes none of a server that is {server.status}")
        if any(image.age < _JUST_BEGUN for image in found):
            return _Progress(_State.GOING_ON, is_begun=True)
        for image in found:
            # The service that uploaded it has died.
            self._images.delete(image.image_id)
        return self._create(wish)

    def _busy(self, server: Any, *, is_begun: bool) -> _Progress:
        try:
            self._lost.repair(server)
        except StepFailedError as error:
            return _Progress(_State.IMPOSSIBLE, reason=str(error))
        return _Progress(_State.GOING_ON, is_begun)

    def _found(self, wish: Wish) -> list[Image]:
        """Return the images of a server. Those that the service owns are given to the server's project."""
        owner: str = wish.server.tenant_id
        found = []
        for moment in (wish.moment, *wish.other_moments):
            properties = {_SERVER: wish.server.id, _MOMENT: moment}
            found += self._images.find(owner, **properties)
            ours = self._images.own_project
            if ours is not None and ours != owner:
                for image in self._images.find(ours, **properties):
                    self._images.change(image.image_id, owner=owner)
                    found.append(image)
        return found

    def _create(self, wish: Wish) -> _Progress:
        server, key = wish.server, _key(wish)
        with self._lock:
            if self._attempts[key] >= _ATTEMPTS:
                why = self._why.get(key, "Nova does not complete it")
                return _Progress(_State.IMPOSSIBLE, reason=f"tried {_ATTEMPTS} times: {why}")
            self._attempts[key] += 1
        properties = {_SERVER: server.id, _MOMENT: wish.moment, _LEASE: wish.lease_id}
        try:
            self._command(wish, properties)
        except (BadRequest, Forbidden) as error:
            LOG.warning("Nova refuses to make an image of server %s: %s", server.id, error.message)
            with self._lock:
                self._why[key] = f"Nova refuses: {error.message}"
        except (Conflict, NotFound):
            # The server is busy or gone, which the next call sees.
            with self._lock:
                self._attempts[key] -= 1
        return _GOING_ON

    def _command(self, wish: Wish, properties: dict[str, str]) -> None:
        if wish.trust_id is not None:
            try:
                self._on_behalf_of(wish.trust_id).servers.create_image(wish.server.id, wish.name, properties)
            except (NoLoginError, Unauthorized) as error:
                # The trust ends when the user leaves the project. Their work must be saved all the same.
                LOG.warning(
                    "the trust of lease %s cannot be used, so the service makes the image: %s", wish.lease_id, error
                )
            else:
                return
        self._nova.servers.create_image(wish.server.id, wish.name, properties)

    def _adopted(self, wish: Wish) -> _Progress:
        """Use the image of a shelved server, and protect it, because Nova would delete it with the server."""
        server, owner = wish.server, wish.server.tenant_id
        ours = self._images.own_project
        shelved = {"name": f"{server.name}-shelved", "instance_uuid": server.id}
        for project_id in dict.fromkeys((owner, *(() if ours is None else (ours,)))):
            for image in self._images.find(project_id, **shelved):
                if image.is_complete:
                    named = {_SERVER: server.id, _MOMENT: wish.moment, _LEASE: wish.lease_id}
                    self._images.change(image.image_id, name=wish.name, owner=owner, protected=True, **named)
                    return _Progress(_State.SAFE)
        return _Progress(_State.IMPOSSIBLE, reason="it is shelved, and Nova has no image of its own disk")


def _key(wish: Wish) -> tuple[str, str]:
    return wish.server.id, wish.moment
