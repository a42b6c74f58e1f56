"""Looks now and then at what happens in the cloud by itself: hosts that go down, servers that their owners delete."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

from lease_scheduler.cloud.driver import DriverEvent
from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.hosts import Hosts
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.nova.boots import FLAVOR_LEASE

LOG = logging.getLogger(__name__)

#: Clocks of Nova and of this machine may differ by so much without a change being missed.
_OVERLAP = timedelta(seconds=30)


class Watcher:
    """See the module.

    :param nova: novaclient's client, of an administrator
    :param is_managed: whether the servers of a lease are booted by us; only then is it over when they are gone
    :param interval: real seconds between two looks
    """

    def __init__(
        self,
        nova: Any,
        hosts: Hosts,
        flavors: FlavorCatalogue,
        is_managed: Callable[[str], bool],
        interval: float,
    ) -> None:
        self._nova = nova
        self._is_managed = is_managed
        self._hosts = hosts
        self._flavors = flavors
        self._interval = interval
        self._in_service: dict[str, bool] = {}
        self._looked_at: datetime | None = None
        self._gone: dict[str, datetime] = {}
        self._stopping = Event()
        self._thread: Thread | None = None

    def start(self, on_event: Callable[[DriverEvent], None]) -> None:
        """Begin to look."""
        self._stopping.clear()
        # Whoever led before may have told other things.
        self._in_service = {}
        self._thread = Thread(target=self._run, args=(on_event,), name="nova-watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, on_event: Callable[[DriverEvent], None]) -> None:
        while not self._stopping.is_set():
            for look in (self._look_at_hosts, self._look_at_servers):
                try:
                    for event in look():
                        on_event(event)
                except Exception:
                    LOG.exception("Nova could not be asked what happened; it is tried again in %.0f s", self._interval)
            try:
                self._flavors.refresh()
            except Exception:
                LOG.exception("Nova could not be asked for its flavors")
            self._stopping.wait(self._interval)

    # -- hosts -----------------------------------------------------------------------------------------------

    def _look_at_hosts(self) -> list[DriverEvent]:
        """Hosts whose compute service went down, was disabled, or is back."""
        by_service = self._hosts.services()
        events = []
        for service in self._nova.services.list(binary="nova-compute"):
            host = by_service.get(service.host)
            if host is None:
                continue
            is_in_service = service.state == "up" and service.status == "enabled"
            # The engine may have taken over from one that knew of an outage, so the first look tells everything.
            if self._in_service.get(host) is not is_in_service:
                events.append(_host_event(host, service, is_in_service))
            self._in_service[host] = is_in_service
        return events

    # -- servers ---------------------------------------------------------------------------------------------

    def _look_at_servers(self) -> list[DriverEvent]:
        """Managed leases whose last server was deleted by somebody else."""
        now = datetime.now(UTC)
        since, self._looked_at = self._looked_at, now
        self._gone = {lease_id: instant for lease_id, instant in self._gone.items() if instant > now - 2 * _OVERLAP}
        if since is None:
            return []
        query = {"all_tenants": 1, "deleted": True, "changes-since": (since - _OVERLAP).isoformat()}
        deleted = self._nova.servers.list(search_opts=query, limit=-1)
        events = []
        for lease_id in sorted({lease_id for server in deleted if (lease_id := _lease_of(server)) is not None}):
            if lease_id in self._gone or not self._is_managed(lease_id):
                continue
            if not self._nova.servers.list(search_opts={"all_tenants": 1, "tags": names.tag(lease_id)}, limit=1):
                self._gone[lease_id] = now
                events.append(DriverEvent(EventKind.ENDED, lease_id, reason="its servers were deleted"))
        return events


def _host_event(host: str, service: Any, is_in_service: bool) -> DriverEvent:
    if is_in_service:
        return DriverEvent(EventKind.HOST_UP, host=host)
    reason = getattr(service, "disabled_reason", None) or f"its compute service is {service.state}, {service.status}"
    return DriverEvent(EventKind.HOST_DOWN, host=host, reason=reason)


def _lease_of(server: Any) -> str | None:
    """The lease whose flavor a deleted server had; its tags are gone."""
    extra_specs: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return extra_specs.get(FLAVOR_LEASE)
