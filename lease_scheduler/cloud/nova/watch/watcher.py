"""Watcher of events in the cloud: hosts that go down, and servers that their users delete.

It checks at intervals, and at once when a notification from Nova gives a hint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import Any, Protocol

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.complaints import complain
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.api.hints import AggregateHint, CacheHint, Hint, ServerHint, ServiceHint
from lease_scheduler.cloud.nova.api.host_services import is_asleep
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.watch.inspector import Inspector
from lease_scheduler.cloud.nova.watch.silence import Patience, Silence
from lease_scheduler.cloud.nova.watch.sink import Sink
from lease_scheduler.cloud.observations import ServerChange
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.nova.boots import FLAVOR_LEASE

LOG = logging.getLogger(__name__)

#: Difference between the clocks of Nova and of this machine up to which no change is missed.
_OVERLAP = timedelta(seconds=30)

#: Status that Nova shows for services in a cell that does not answer.
_UNKNOWN = "UNKNOWN"

_DELETED = frozenset({"instance.delete.end", "instance.soft_delete.end"})

#: Actions by which a server comes to a host.
_ARRIVED = frozenset(
    {
        "instance.create.end",
        "instance.unshelve.end",
        "instance.live_migration_post_dest.end",
        "instance.resize_finish.end",
        "instance.resize_revert.end",
        "instance.rebuild.end",
        "instance.evacuate.end",
    }
)

#: Actions after which a server that was put away may run.
_WOKEN = frozenset(
    {
        "instance.power_on.end",
        "instance.resume.end",
        "instance.unpause.end",
        "instance.reboot.end",
        "instance.unrescue.end",
        "instance.resize_confirm.end",
    }
)


class HintSource(Protocol):
    """Source of hints from Nova's notifications."""

    def start(self, on_hint: Callable[[Hint], None]) -> None:
        """Begin to listen. Calls may come from several threads."""
        ...

    def stop(self) -> None:
        """Stop listening."""
        ...


@dataclass(frozen=True)
class WatcherOptions:
    """Options of the watcher.

    :ivar interval: real seconds between two checks
    :ivar patience: how long services may be down, in real seconds
    """

    interval: float
    patience: Patience = field(default_factory=Patience)


class Watcher:
    """Watcher with a separate thread.

    :param nova: novaclient's client with administrator rights
    :param is_managed: returns whether the engine boots the servers of a lease, which then ends when they are gone
    :param options: how often to check, and how long services may be down
    :param listener: source of hints; None to check at intervals only
    :param inspector: inspects facts that are expensive to read; None leaves these out
    :param own_user: returns the id of the service's own user, whose actions are no events, or None if not known
    :ivar hears_of_servers: whether a notification about a server was received
    """

    def __init__(
        self,
        nova: Any,
        hosts: Hosts,
        flavors: FlavorCatalogue,
        is_managed: Callable[[str], bool],
        options: WatcherOptions,
        listener: HintSource | None = None,
        inspector: Inspector | None = None,
        own_user: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._nova = nova
        self._is_managed = is_managed
        self._hosts = hosts
        self._flavors = flavors
        self._interval = options.interval
        self._listener = listener
        self._inspector = inspector
        self._own_user = own_user
        self._silence = Silence(options.patience)
        self._own_user_id: str | None = None
        self.hears_of_servers = False
        self._told_of: dict[str, EventKind] = {}
        self._looked_at: datetime | None = None
        self._gone: dict[str, datetime] = {}
        self._changed = Condition()
        self._stopped = True
        self._hinted_services = False
        self._hinted_leases: set[str] = set()
        self._is_woken = False
        self._thread: Thread | None = None

    def start(self, sink: Sink) -> None:
        """Begin to check and to listen.

        :param sink: receives what is seen
        """
        # Another engine may have led meanwhile and seen other events.
        self._told_of = {}
        self._stopped = False
        self._thread = Thread(target=self._run, args=(sink,), name="nova-watcher", daemon=True)
        self._thread.start()
        if self._inspector is not None:
            self._inspector.start(sink)
        if self._listener is not None:
            self._listener.start(partial(self._heard, sink))

    def stop(self) -> None:
        """Stop checking and listening."""
        if self._listener is not None:
            self._listener.stop()
        if self._inspector is not None:
            self._inspector.stop()
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    # -- when to look ----------------------------------------------------------------------------------------

    def _run(self, sink: Sink) -> None:
        self._try(self._learn_own_user, "the service's own user could not be read from Keystone")
        due = monotonic()
        while True:
            with self._changed:
                while not (self._stopped or self._is_hinted() or monotonic() >= due):
                    self._changed.wait(due - monotonic())
                if self._stopped:
                    return
                services, self._hinted_services = self._hinted_services, False
                leases, self._hinted_leases = self._hinted_leases, set()
                is_woken, self._is_woken = self._is_woken, False
            is_due = monotonic() >= due
            if is_due or services:
                self._look(self._look_at_hosts, sink)
            if leases:
                self._look(partial(self._look_at_leases, leases), sink)
            if is_due:
                self._look(self._look_at_servers, sink)
                self._try(self._flavors.refresh, "flavors could not be read from Nova")
                # Hosts that die send no notification, so these checks go on at the same interval in any case.
                due = monotonic() + self._interval
            if is_due or is_woken:
                self._try(sink.on_round, "a periodic task failed")

    def _is_hinted(self) -> bool:
        return self._hinted_services or bool(self._hinted_leases) or self._is_woken

    def _look(self, look: Callable[[], Iterable[DriverEvent]], sink: Sink) -> None:
        try:
            for event in look():
                sink.on_event(event)
        except Exception as error:
            complain(LOG, f"events could not be read from Nova; it is tried again in {self._interval:.0f} s", error)

    @staticmethod
    def _try(call: Callable[[], None], complaint: str) -> None:
        try:
            call()
        except Exception as error:
            complain(LOG, complaint, error)

    def _learn_own_user(self) -> None:
        if self._own_user_id is None:
            self._own_user_id = self._own_user()

    def _heard(self, sink: Sink, hint: Hint) -> None:
        """Handle a hint from the listener."""
        if isinstance(hint, ServiceHint):
            with self._changed:
                self._hinted_services = True
                self._changed.notify_all()
        elif isinstance(hint, ServerHint):
            self._heard_of_server(sink, hint)
        elif isinstance(hint, CacheHint):
            sink.on_cache(hint)
        elif self._inspector is not None and not self._is_own(hint):
            self._inspector.hint_at_aggregate(hint.number)

    def _heard_of_server(self, sink: Sink, hint: ServerHint) -> None:
        self.hears_of_servers = True
        host = None if hint.host is None else self._hosts.services().get(hint.host, hint.host)
        arrives = hint.event_type in _ARRIVED
        sink.on_server(ServerChange(hint.event_type, hint.server_id, hint.lease_id, host, arrives))
        if hint.event_type in _DELETED:
            # A deletion by the service itself does not end a lease.
            if hint.lease_id is not None and not self._is_own(hint):
                with self._changed:
                    self._hinted_leases.add(hint.lease_id)
                    self._changed.notify_all()
        elif hint.event_type in _ARRIVED | _WOKEN:
            if hint.host is not None and self._inspector is not None:
                self._inspector.hint_at_host(hint.host)
            if hint.event_type in _WOKEN and hint.lease_id is not None and not self._is_own(hint):
                with self._changed:
                    self._is_woken = True
                    self._changed.notify_all()

    def _is_own(self, hint: ServerHint | AggregateHint) -> bool:
        return hint.user_id is not None and hint.user_id == self._own_user_id

    # -- hosts -----------------------------------------------------------------------------------------------

    def _look_at_hosts(self) -> list[DriverEvent]:
        """Return events for hosts whose compute service went down, was disabled or removed, or is back."""
        by_service = self._hosts.services()
        events = []
        listed = set()
        services = self._nova.services.list(binary="nova-compute")
        now = monotonic()
        if self._silence.is_general(services, now):
            LOG.warning("no compute service is up: this counts as an outage of the message bus, not of all hosts")
            return []
        for service in services:
            listed.add(service.host)
            host = by_service.get(service.host)
            if host is None or service.status == _UNKNOWN:
                continue
            if is_asleep(service):
                # That is no outage. Once the host is awake, the next check reports it.
                self._told_of.pop(host, None)
                continue
            event = _host_event(host, service)
            if event.kind is EventKind.HOST_DOWN and not self._silence.is_over(service, now):
                # It may soon be back, or all others may go down, too.
                continue
            # The first check reports all hosts, because an earlier engine may have noted an outage.
            if self._told_of.get(host) is not event.kind:
                events.append(event)
            self._told_of[host] = event.kind
        for host in sorted(by_service[service] for service in by_service.keys() - listed):
            if self._told_of.get(host) is not EventKind.HOST_DOWN:
                events.append(DriverEvent(EventKind.HOST_DOWN, host=host, reason="its compute service is removed"))
            self._told_of[host] = EventKind.HOST_DOWN
        return events

    # -- servers ---------------------------------------------------------------------------------------------

    def _look_at_servers(self) -> list[DriverEvent]:
        """Return events for managed leases whose last server was deleted by others."""
        now = datetime.now(UTC)
        since, self._looked_at = self._looked_at, now
        if since is None:
            return []
        deleted = all_servers(self._nova, deleted=True, **{"changes-since": (since - _OVERLAP).isoformat()})
        return self._look_at_leases({lease_id for server in deleted if (lease_id := _lease_of(server)) is not None})

    def _look_at_leases(self, leases: Iterable[str]) -> list[DriverEvent]:
        """Return events for those of these leases that are managed and have no server any more."""
        now = datetime.now(UTC)
        # Leases are remembered as long as the same deletion may be seen again.
        kept = now - timedelta(seconds=self._interval) - 2 * _OVERLAP
        self._gone = {lease_id: instant for lease_id, instant in self._gone.items() if instant > kept}
        events = []
        for lease_id in sorted(leases):
            if lease_id in self._gone or not self._is_managed(lease_id):
                continue
            if not self._nova.servers.list(search_opts={"all_tenants": 1, "tags": names.tag(lease_id)}, limit=1):
                self._gone[lease_id] = now
                events.append(DriverEvent(EventKind.ENDED, lease_id, reason="its servers were deleted"))
        return events


def _host_event(host: str, service: Any) -> DriverEvent:
    """Return the event for the state of a compute service. Servers on a host that is only disabled keep running."""
    if service.state == "up" and service.status == "enabled":
        return DriverEvent(EventKind.HOST_UP, host=host)
    kind = EventKind.HOST_CLOSED if service.state == "up" else EventKind.HOST_DOWN
    reason = getattr(service, "disabled_reason", None) or f"its compute service is {service.state}, {service.status}"
    return DriverEvent(kind, host=host, reason=reason)


def _lease_of(server: Any) -> str | None:
    """Return the lease whose flavor a deleted server had, or None. Its tags are gone."""
    extra_specs: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return extra_specs.get(FLAVOR_LEASE)
