"""Servers of leases. Each call reads the present state, and does the next step.

A server belongs to a lease if it has the tag of the lease (managed leases), was booted with a flavor of the lease, or
is on a host that the lease has for itself.
"""

from __future__ import annotations

import base64
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from novaclient.exceptions import BadRequest, Conflict, Forbidden, NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known
from lease_scheduler.model.durations import in_words

LOG = logging.getLogger(__name__)

#: Maximum age in seconds of a server that finds no host and is booted again. nova-scheduler learns of aggregates by
#: messages, which take time.
_SCHEDULER_DELAY = 10.0
_NO_HOST = "No valid host"

#: Real seconds after which servers of a lease that find no host are not booted again.
_LONGEST_RETRY = 60.0

#: Number of successive lists without a server after which it counts as deleted by its users.
_GONE_AFTER = 3

#: Maximum number of times that lost boots of a lease are repeated on the same hosts.
_LOST_BOOTS = 2

#: Real seconds after which a lease is forgotten, as its start may have been given up.
_FORGOTTEN_AFTER = 600.0


@dataclass(frozen=True)
class WantedServer:
    """A server of a managed lease.

    :ivar number: its number in the lease
    :ivar template: its template in the lease document
    :ivar flavor_id: id of the lease's flavor for it
    :ivar host: name of its planned compute host
    """

    number: int
    name: str
    template: Mapping[str, Any]
    flavor_id: str
    host: str


#: Query for servers that were deleted and could be restored (Nova's option ``reclaim_instance_interval``).
RESTORABLE = {"deleted": "true", "status": of.SOFT_DELETED}


class Servers:
    """The servers of leases.

    :param nova: novaclient's client with administrator rights
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    :param project_of: returns the project of a lease, or None if there is no such lease
    :param boot_timeout: seconds after which a boot that is not complete counts as failed
    :param lost: detects commands that Nova has lost
    :param clock: returns real seconds
    """

    def __init__(
        self,
        nova: Any,
        on_behalf_of: Callable[[str | None], Any],
        project_of: Callable[[str], str | None],
        boot_timeout: int,
        lost: LostCommands,
        aliases: PciAliases,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._nova = nova
        self._project_of = project_of
        self._on_behalf_of = on_behalf_of
        self._boot_timeout = boot_timeout
        self._lost = lost
        self._aliases = aliases
        self._clock = clock
        #: Lease -> seconds at which one of its servers found no host for the first time.
        self._without_host: dict[str, float] = {}
        #: Lease -> number of times that its lost boots were repeated.
        self._lost_boots: Counter[str] = Counter()
        #: Lease -> number of the order that boots its servers, and number of each server that it has created -> number
        #: of successive lists without this server.
        self._created: dict[str, tuple[int, dict[int, int]]] = {}
        #: Lease with servers that are being booted -> number of its servers whose boot is complete.
        self._complete: dict[str, int] = {}
        #: Seconds at which a boot of any lease was last complete.
        self._progress = -math.inf

    # -- what there is ---------------------------------------------------------------------------------------

    def of(self, lease_id: str, flavors: int, hosts: Iterable[str] = (), project_id: str | None = None) -> list[Any]:
        """Return the servers of a lease.

        :param flavors: number of flavors of the lease
        :param hosts: compute services that the lease has for itself
        :param project_id: project of the lease, for the servers on these hosts
        """
        found = {each.id: each for each in self.find(tags=names.tag(lease_id))}
        for number in range(flavors):
            found |= {each.id: each for each in self.find(flavor=names.flavor_id(lease_id, number))}
        for host in hosts:
            # A stopped server there may belong to a preempted lease, as its flavor tells. Tags do not count: with the
            # tag of another lease of its own, a project could keep any server there.
            here = [each for each in self.find(host=host) if of.made_for(each) in (None, lease_id)]
            found |= {each.id: each for each in here if each.tenant_id == project_id}
        return list(found.values())

    def restorable(self, known: Known) -> list[Any]:
        """Return the servers of a lease that users have deleted and could restore, if Nova is configured so.

        Nova lists such servers only on request, and Placement still counts their resources.
        """
        found = self.find(project_id=known.project_id, **RESTORABLE)
        return [
            each
            for each in found
            if known.lease_id in of.leases(each) or (of.made_for(each) is None and of.service(each) in known.exclusive)
        ]

    def by_tag(self) -> dict[str, list[Any]]:
        """Return lease -> servers with its tag."""
        found: dict[str, list[Any]] = {}
        for server in self.find():
            for text in of.tags(server):
                lease_id = names.lease_of_tag(text)
                if lease_id is not None:
                    found.setdefault(lease_id, []).append(server)
        return found

    def given_up(self, lease_id: str, project_id: str) -> frozenset[str]:
        """Return the names of servers of a managed lease that its own project has deleted."""
        deleted = all_servers(self._nova, deleted=True, project_id=project_id)
        mine = [each for each in deleted if of.made_for(each) == lease_id]
        return frozenset(each.name for each in mine if self._was_deleted_by(each, project_id))

    def _was_deleted_by(self, server: Any, project_id: str) -> bool:
        try:
            actions = self._nova.instance_action.list(server)
        except NotFound:
            return False
        return any(each.action == "delete" and each.project_id == project_id for each in actions)

    def find(self, **query: str) -> list[Any]:
        """Return all servers that satisfy a query to Nova, such as ``host`` or ``tags``.

        The extra specs of their flavors include the groups that Nova adds for PCI aliases. Tags of leases of other
        projects are left out.
        """
        found = all_servers(self._nova, **query)
        projects: dict[str, str | None] = {}
        for server in found:
            if server.flavor.get("extra_specs"):
                server.flavor["extra_specs"] = self._aliases.spelled_out(server.flavor["extra_specs"])
            server.tags = [text for text in of.tags(server) if self._is_genuine(text, server, projects)]
        wanted = query.get("tags")
        # Nova still lists a server for a moment after it is deleted.
        return [each for each in found if each.status != of.DELETED and (wanted is None or wanted in each.tags)]

    def _is_genuine(self, tag: str, server: Any, projects: dict[str, str | None]) -> bool:
        """Return whether a tag can be trusted. Users can give their own servers the tag of any lease.

        :param projects: lease -> project, a cache that is extended here
        """
        lease_id = names.lease_of_tag(tag)
        if lease_id is None or of.made_for(server) == lease_id:
            return True
        if lease_id not in projects:
            projects[lease_id] = self._project_of(lease_id)
        project_id: str = server.tenant_id
        return projects[lease_id] == project_id

    # -- what is done ----------------------------------------------------------------------------------------

    def boot(self, lease_id: str, wanted: Sequence[WantedServer], trust_id: str | None, order: int = 0) -> bool:
        """Boot these servers. Return whether Nova has booted all of them, even if users have stopped some since.

        A server that its users delete meanwhile is not booted again.

        :param order: number of the order; each order boots all servers anew
        :raises StepFailedError: Nova refuses a server, or its boot failed
        """
        present = {of.number(server): server for server in self.find(tags=names.tag(lease_id))}
        missed = self._missed(lease_id, order, [each for each in wanted if each.number not in present])
        try:
            missing = [each for each in wanted if each.number not in present and each.number not in missed]
            self._create_all(lease_id, missing, trust_id)
            if self._tried_again(lease_id, present.values()) or self._booted_again(lease_id, present.values()):
                return False
            for server in present.values():
                self._check(server)
        except StepFailedError:
            self._created.pop(lease_id, None)
            raise
        # Nova may not list a server while it passes it on to a cell.
        are_there = not missing and all(times >= _GONE_AFTER for times in missed.values())
        is_over = are_there and all(server.status != of.BUILD for server in present.values())
        if is_over:
            self._without_host.pop(lease_id, None)
            self._lost_boots.pop(lease_id, None)
            self._created.pop(lease_id, None)
        return is_over

    def _missed(self, lease_id: str, order: int, missing: Iterable[WantedServer]) -> dict[int, int]:
        """Return number of each missing server that an order has created -> successive lists without it."""
        known, created = self._created.get(lease_id, (order, {}))
        if known != order:
            created = {}
        numbers = {each.number for each in missing}
        created = {number: times + 1 if number in numbers else 0 for number, times in created.items()}
        self._created[lease_id] = (order, created)
        return {number: times for number, times in created.items() if times}

    def _create_all(self, lease_id: str, missing: Sequence[WantedServer], trust_id: str | None) -> None:
        if not missing:
            return
        tenant = self._on_behalf_of(trust_id)
        _, created = self._created[lease_id]
        for each in missing:
            try:
                self._create(tenant, lease_id, each)
            except (BadRequest, Forbidden, NotFound) as error:
                raise StepFailedError(f"Nova refuses server {each.name}: {error.message}") from error
            created[each.number] = 0

    def _delete_to_boot_again(self, lease_id: str, servers: Collection[Any]) -> None:
        _, created = self._created[lease_id]
        for each in servers:
            number = of.number(each)
            if number is not None:
                created.pop(number, None)
        self.delete(servers)

    def _tried_again(self, lease_id: str, servers: Iterable[Any]) -> bool:
        """Delete servers that found no host because nova-scheduler did not know the aggregates yet.

        :return: whether there were any
        """
        early = [
            each
            for each in servers
            if each.status == of.ERROR and _NO_HOST in of.fault(each) and of.age(each) < _SCHEDULER_DELAY
        ]
        if not early:
            return False
        now = self._clock()
        self._without_host = {key: at for key, at in self._without_host.items() if now - at < _FORGOTTEN_AFTER}
        if now - self._without_host.setdefault(lease_id, now) > _LONGEST_RETRY:
            # The next start of the lease begins anew.
            del self._without_host[lease_id]
            return False
        self._delete_to_boot_again(lease_id, early)
        return True

    def _booted_again(self, lease_id: str, servers: Collection[Any]) -> bool:
        """Delete servers whose boot Nova has lost, so that they are booted anew. Return whether there are any.

        :raises StepFailedError: Nova has lost too many boots of the lease
        """
        building = [each for each in servers if each.status == of.BUILD]
        now, complete = self._clock(), len(servers) - len(building)
        if complete > self._complete.pop(lease_id, 0):
            self._progress = now
        if building:
            self._complete[lease_id] = complete
        lost = [each for each in building if self._lost.is_lost(each)]
        # Many boots wait for each other in Nova for minutes, which is no loss.
        if not lost or now - self._progress < self._lost.lost_after:
            return False
        if self._lost_boots[lease_id] >= _LOST_BOOTS:
            # The next start of the lease begins anew.
            del self._lost_boots[lease_id], self._complete[lease_id]
            raise StepFailedError(f"server {lost[0].id} is not there: Nova has lost its boot", of.host(lost[0]))
        self._lost_boots[lease_id] += 1
        for each in lost:
            LOG.warning("Nova has lost the boot of server %s of lease %s; it is booted anew", each.id, lease_id)
        self._delete_to_boot_again(lease_id, lost)
        return True

    def _check(self, server: Any) -> None:
        if server.status == of.ERROR:
            raise StepFailedError(f"server {server.id} failed: {of.fault(server)}", of.host(server))
        if server.status == of.BUILD and of.age(server) > self._boot_timeout:
            raise StepFailedError(
                f"server {server.id} is not there after {in_words(self._boot_timeout)}", of.host(server)
            )

    def _create(self, tenant: Any, lease_id: str, wanted: WantedServer) -> None:
        template = wanted.template
        networks = template.get("networks") or "auto"
        nics = networks if isinstance(networks, str) else [_nic(network) for network in networks]
        user_data = template.get("user_data")
        volume = template.get("volume")
        tenant.servers.create(
            wanted.name,
            template["image_id"] if volume is None else "",
            wanted.flavor_id,
            block_device_mapping_v2=None if volume is None else [_root_disk(template, volume)],
            nics=nics,
            key_name=template.get("key_name"),
            security_groups=template.get("security_groups"),
            # novaclient encodes text once too often, but not bytes.
            userdata=None if user_data is None else base64.b64decode(user_data),
            meta=dict(template.get("metadata") or {}),
            tags=[names.tag(lease_id), of.number_tag(wanted.number)],
            # The hint does not name the lease, which the flavor tells, because Nova never forgets a hint, and the
            # server may outlive its lease.
            scheduler_hints={"lease:host": wanted.host},
        )

    def mark(self, servers: Iterable[Any], lease_id: str) -> None:
        """Add the tag of the lease to servers, where Nova allows it, so that they are found wherever they are."""
        tag = names.tag(lease_id)
        for server in servers:
            of.add_tag(server, tag)

    def delete(self, servers: Iterable[Any]) -> bool:
        """Delete servers. Return whether none of them is left."""
        is_over = True
        for server in servers:
            is_over = False
            if of.task(server) == "deleting":
                if not self._lost.is_lost(server):
                    continue
                self._lost.reset(server)
            try:
                if server.status == of.SOFT_DELETED:
                    # Nova would keep it for a while, but its host is needed now.
                    self._nova.servers.force_delete(server)
                else:
                    self._nova.servers.delete(server)
            except (NotFound, Conflict):
                continue
        return is_over


def _root_disk(template: Mapping[str, Any], volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return Nova's description of the volume from which a server boots: an existing one, or a new one of its image."""
    if "volume_id" in volume:
        disk = {"uuid": volume["volume_id"], "source_type": "volume"}
    else:
        disk = {"uuid": template["image_id"], "source_type": "image", "volume_size": volume["size_gb"]}
        if "volume_type" in volume:
            disk["volume_type"] = volume["volume_type"]
    # A volume that is created for the server is deleted with it, unless the request says otherwise.
    ends = volume.get("delete_on_termination", "volume_id" not in volume)
    return {**disk, "destination_type": "volume", "boot_index": 0, "delete_on_termination": ends}


def _nic(network: Mapping[str, str]) -> dict[str, str]:
    return {"port-id": network["port_id"]} if "port_id" in network else {"net-id": network["network_id"]}
