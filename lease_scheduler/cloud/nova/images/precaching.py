"""Transfer of images to the caches of hosts by Nova, through a temporary aggregate (compute API 2.81).

The aggregate has no metadata, so filters ignore it. It is named after its image, so an engine that takes over finds it
again. Nova skips hosts that have the image.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from novaclient.exceptions import BadRequest, Forbidden

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.api.hints import CacheHint
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from lease_scheduler.engine.interfaces import WaitingClock

#: Longest wait for a transfer with notifications: a multiple of its expected time, plus some seconds.
_TIMES_AS_LONG, _LONGER = 2, 60

#: Maximum number of notifications that are kept for an order. Others could use an aggregate of the same name.
_MOST_HEARD = 100_000


@dataclass
class _Begun:
    """State of an order.

    :ivar services: compute service -> host
    :ivar missing: hosts that Nova does not know
    :ivar is_asked: whether the request was sent to Nova
    :ivar request_id: id of that request, or None if Nova gave none
    :ivar heard: notifications that were received for it
    """

    services: dict[str, str]
    missing: frozenset[str]
    is_asked: bool = False
    request_id: str | None = None
    heard: list[CacheHint] = field(default_factory=list)


class CachePreloading:
    """See ``cloud.capabilities.ImageCaches``. Without notifications, a transfer counts as done at its due time."""

    def __init__(self, clock: WaitingClock, aggregates: Aggregates, hosts: Hosts) -> None:
        self._clock = clock
        self._aggregates = aggregates
        self._hosts = hosts
        self._lock = Lock()
        self._begun: dict[str, _Begun] = {}

    def hear(self, hint: CacheHint) -> None:
        """Note a notification from Nova."""
        with self._lock:
            begun = self._begun.get(hint.aggregate)
            if begun is not None and len(begun.heard) < _MOST_HEARD:
                begun.heard.append(hint)

    def carry(self, order: ImageOrder) -> ImageProgress:
        """See ``ImageCaches.carry``."""
        name = names.precache(order.image_id)
        begun = self._known(name, order)
        if not begun.is_asked:
            self._ask(name, begun, order)
        progress = self._progress(begun, order)
        if progress.is_over:
            self._aggregates.remove(name)
            with self._lock:
                self._begun.pop(name, None)
        return progress

    def clear(self) -> None:
        """See ``ImageCaches.clear``."""
        with self._lock:
            self._begun.clear()
        for aggregate in self._aggregates.all():
            if aggregate.name.startswith(names.PRECACHE):
                self._aggregates.remove(aggregate.name)

    def _known(self, name: str, order: ImageOrder) -> _Begun:
        with self._lock:
            known = self._begun.get(name)
        if known is not None:
            return known
        nodes = {host: self._hosts.node(host) for host in sorted(order.hosts)}
        services = {node.service: host for host, node in nodes.items() if node is not None}
        begun = _Begun(services, frozenset(host for host, node in nodes.items() if node is None))
        with self._lock:
            # This precedes the request, because its first notification may come at once.
            self._begun[name] = begun
        return begun

    def _ask(self, name: str, begun: _Begun, order: ImageOrder) -> None:
        """Send the request to Nova.

        :raises StepFailedError: none of the hosts exists, or Nova refuses the request
        """
        if not begun.services:
            raise StepFailedError(f"there are no compute hosts {', '.join(sorted(order.hosts))}")
        self._aggregates.ensure(name, {}, begun.services)
        try:
            begun.request_id = self._aggregates.cache_image(name, order.image_id)
        except (BadRequest, Forbidden) as error:
            self._aggregates.remove(name)
            raise StepFailedError(f"Nova refuses the request: {error}") from error
        begun.is_asked = True

    def _progress(self, begun: _Begun, order: ImageOrder) -> ImageProgress:
        with self._lock:
            # A request of an earlier engine with the same aggregate may still be under way.
            heard = [hint for hint in begun.heard if begun.request_id in (None, hint.request_id)]
        through = {hint.host: order.image_id in hint.cached for hint in heard if hint.phase == "progress"}
        there = frozenset(host for service, host in begun.services.items() if through.get(service))
        failed = dict.fromkeys(sorted(begun.missing), "there is no such compute host")
        failed |= {
            host: "Nova failed; see the log of the host's compute service"
            for service, host in sorted(begun.services.items())
            if through.get(service) is False
        }
        now = self._clock.now()
        if not heard:
            if now < order.due:
                return ImageProgress(failed=failed)
            # This Nova sends no notifications, so the transfer is assumed to have succeeded in time.
            return ImageProgress(frozenset(begun.services.values()), failed, is_over=True)
        limit = order.begun + _TIMES_AS_LONG * (order.due - order.begun) + _LONGER
        is_over = any(hint.phase == "end" for hint in heard) or len(through) >= len(begun.services) or now >= limit
        if is_over:
            rest = sorted(set(begun.services.values()) - there - failed.keys())
            failed |= dict.fromkeys(rest, "Nova has not confirmed that the image is there")
        return ImageProgress(there, failed, is_over)
