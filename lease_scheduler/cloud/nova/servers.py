"""Servers of leases: booted, shelved, unshelved and deleted; each call looks at what is there and does what comes next.

A server belongs to a lease if it has the lease's tag (managed leases), was made with a flavor of the lease, or sits on
a host that the lease has for itself.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from novaclient.exceptions import BadRequest, Conflict, Forbidden, NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova import names
from lease_scheduler.nova.aggregates import is_true
from lease_scheduler.nova.boots import FLAVOR_LEASE, FLAVOR_PREEMPTIBLE

#: States from which Nova shelves.
_CAN_SHELVE = frozenset({"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"})
_OFFLOADED = "SHELVED_OFFLOADED"

#: Tag of servers of which an image is made before they are deleted.
_SNAPSHOT_TAG = "lease-snapshot"

#: How often a server that comes back as it was is unshelved before that counts as failed.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Wanted:
    """A server of a managed lease.

    :ivar number: of its VM among those of the lease
    :ivar template: what the tenant said of it
    :ivar flavor_id: of the lease's flavor for it
    :ivar host: name of the compute host that is planned for it
    """

    number: int
    name: str
    template: Mapping[str, Any]
    flavor_id: str
    host: str


class Servers:
    """The servers of leases.

    :param nova: novaclient's client, of an administrator
    :param on_behalf_of: gives a client that acts for the consumer who gave a trust
    """

    def __init__(self, nova: Any, on_behalf_of: Callable[[str | None], Any]) -> None:
        self._nova = nova
        self._on_behalf_of = on_behalf_of
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()

    # -- what there is ---------------------------------------------------------------------------------------

    def of(self, lease_id: str, flavors: int, hosts: Iterable[str] = (), project_id: str | None = None) -> list[Any]:
        """The servers of a lease.

        :param flavors: how many flavors the lease has
        :param hosts: compute services that the lease has for itself
        :param project_id: of the lease, for the servers on those
        """
        found = {each.id: each for each in self._list(tags=names.tag(lease_id))}
        for number in range(flavors):
            found |= {each.id: each for each in self._list(flavor=names.flavor_id(lease_id, number))}
        for host in hosts:
            found |= {each.id: each for each in self._list(host=host) if each.tenant_id == project_id}
        return list(found.values())

    def by_tag(self) -> dict[str, list[Any]]:
        """All servers that have the tag of a lease, by its id."""
        found: dict[str, list[Any]] = {}
        for server in self._list():
            for text in getattr(server, "tags", ()):
                lease_id = names.lease_of_tag(text)
                if lease_id is not None:
                    found.setdefault(lease_id, []).append(server)
        return found

    def _list(self, **query: str) -> list[Any]:
        found: list[Any] = self._nova.servers.list(search_opts={"all_tenants": 1, **query}, limit=-1)
        return found

    # -- what is done ----------------------------------------------------------------------------------------

    def boot(self, lease_id: str, wanted: Sequence[Wanted], trust_id: str | None) -> bool:
        """Have these servers run; whether all of them do.

        :raises StepFailedError: one of them cannot; it is deleted
        """
        present = {_number(server): server for server in self._list(tags=names.tag(lease_id))}
        missing = [each for each in wanted if each.number not in present]
        if missing:
            tenant = self._on_behalf_of(trust_id)
            for each in missing:
                try:
                    self._create(tenant, lease_id, each)
                except (BadRequest, Forbidden, NotFound) as error:
                    raise StepFailedError(f"Nova refuses server {each.name}: {error.message}") from error
        self._check(present.values())
        return not missing and all(server.status == "ACTIVE" for server in present.values())

    def _create(self, tenant: Any, lease_id: str, wanted: Wanted) -> None:
        template = wanted.template
        networks = template.get("networks") or "auto"
        nics = networks if isinstance(networks, str) else [_nic(network) for network in networks]
        user_data = template.get("user_data")
        tenant.servers.create(
            wanted.name,
            template["image_id"],
            wanted.flavor_id,
            nics=nics,
            key_name=template.get("key_name"),
            security_groups=template.get("security_groups"),
            # novaclient encodes text once more than Nova decodes it unless it gets bytes.
            userdata=None if user_data is None else base64.b64decode(user_data),
            meta=dict(template.get("metadata") or {}),
            tags=[names.tag(lease_id), _number_tag(wanted.number)],
            scheduler_hints={"lease": lease_id, "lease:host": wanted.host},
        )

    def shelve(self, servers: Iterable[Any]) -> bool:
        """Have these servers shelved and off their hosts; whether all of them are.

        :raises StepFailedError: one of them cannot be
        """
        is_over = True
        for server in servers:
            if server.status == _OFFLOADED:
                continue
            is_over = False
            if _is_busy(server):
                continue
            if server.status == "SHELVED":
                self._try(self._nova.servers.shelve_offload, server)
            elif server.status in _CAN_SHELVE:
                self._try(self._nova.servers.shelve, server)
            else:
                raise StepFailedError(f"server {server.id} is {server.status} and cannot be shelved", _host(server))
        return is_over

    def mark(self, servers: Iterable[Any], lease_id: str) -> None:
        """Have these servers found again as the lease's, wherever they are."""
        tag = names.tag(lease_id)
        for server in servers:
            if tag not in getattr(server, "tags", ()):
                server.add_tag(tag)

    def vacate(self, host: str, service: str, lease_id: str) -> bool:
        """Have a host free of servers that are not the lease's; whether it is.

        :param host: name of the compute host, for messages
        :raises StepFailedError: one of them does not give way
        """
        tag = names.tag(lease_id)
        others = [
            each
            for each in self._list(host=service)
            if tag not in getattr(each, "tags", ()) and each.status != _OFFLOADED
        ]
        # Those of another lease are on their way already: its operation comes first in the plan, and is late.
        free = [each for each in others if not _is_leased(each)]
        firm = [each for each in free if not _gives_way(each)]
        if firm:
            raise StepFailedError(f"server {firm[0].id} is on it and does not give way", host)
        return self.shelve(free) and len(free) == len(others)

    def unshelve(self, servers: Iterable[Any]) -> bool:
        """Have these servers run again; whether all of them do.

        :raises StepFailedError: one of them finds no host
        """
        found = list(servers)
        self._check(found)
        for server in found:
            if server.status != _OFFLOADED or _is_busy(server):
                continue
            with self._lock:
                self._attempts[server.id] += 1
                attempts = self._attempts[server.id]
            if attempts > _ATTEMPTS:
                self._forget(found)
                raise StepFailedError(f"server {server.id} finds no host")
            self._try(self._nova.servers.unshelve, server)
        is_over = all(server.status == "ACTIVE" and not _is_busy(server) for server in found)
        if is_over:
            self._forget(found)
        return is_over

    def snapshot(self, servers: Iterable[Any]) -> bool:
        """Have an image made of each of these servers; whether all are there."""
        is_over = True
        for server in servers:
            if server.status not in _CAN_SHELVE:
                continue
            if _SNAPSHOT_TAG not in getattr(server, "tags", ()):
                is_over = False
                if not _is_busy(server):
                    self._try(lambda each: each.create_image(f"{each.name}-{each.id}"), server)
                    # Made twice if this is not reached, which costs an image and loses nothing.
                    server.add_tag(_SNAPSHOT_TAG)
            elif _is_busy(server):
                is_over = False
        return is_over

    def delete(self, servers: Iterable[Any]) -> bool:
        """Have these servers deleted; whether none of them is left."""
        is_over = True
        for server in servers:
            is_over = False
            if getattr(server, "OS-EXT-STS:task_state", None) == "deleting":
                continue
            try:
                if server.status == "SOFT_DELETED":
                    # The operator lets deleted servers be restored for a while; their hosts are needed now.
                    self._nova.servers.force_delete(server)
                else:
                    self._nova.servers.delete(server)
            except (NotFound, Conflict):
                continue
        return is_over

    def _check(self, servers: Iterable[Any]) -> None:
        for server in servers:
            if server.status == "ERROR":
                fault = getattr(server, "fault", {}).get("message", "no reason is given")
                raise StepFailedError(f"server {server.id} failed: {fault}", _host(server))

    def _forget(self, servers: Iterable[Any]) -> None:
        with self._lock:
            for server in servers:
                self._attempts.pop(server.id, None)

    @staticmethod
    def _try(call: Callable[[Any], Any], server: Any) -> None:
        """Give a command that Nova refuses if the server has just begun with something else."""
        try:
            call(server)
        except Conflict:
            return


def _number_tag(number: int) -> str:
    return f"lease-vm:{number}"


def _number(server: Any) -> int | None:
    for text in getattr(server, "tags", ()):
        if text.startswith("lease-vm:"):
            return int(text.removeprefix("lease-vm:"))
    return None


def _nic(network: Mapping[str, str]) -> dict[str, str]:
    return {"port-id": network["port_id"]} if "port_id" in network else {"net-id": network["network_id"]}


def _is_leased(server: Any) -> bool:
    extra_specs: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return FLAVOR_LEASE in extra_specs or any(names.lease_of_tag(tag) for tag in getattr(server, "tags", ()))


def _gives_way(server: Any) -> bool:
    extra_specs: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return any(is_true(extra_specs.get(key)) for key in FLAVOR_PREEMPTIBLE)


def _is_busy(server: Any) -> bool:
    return getattr(server, "OS-EXT-STS:task_state", None) is not None


def _host(server: Any) -> str | None:
    found: str | None = getattr(server, "OS-EXT-SRV-ATTR:hypervisor_hostname", None)
    return found
