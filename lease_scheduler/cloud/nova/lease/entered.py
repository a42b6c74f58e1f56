"""Servers that came to hosts of a lease by a scheduler hint, without a flavor of the lease.

Hosts that a lease has for itself may have such servers, which are found by their host. Shared hosts do not admit them.
Some may have come before nova-scheduler had the present rules, and they take capacity as long as they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from keystoneauth1.adapter import LegacyJsonAdapter

from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.names import aggregate
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known
from lease_scheduler.nova.boots import HINTS

#: Compute API that shows the scheduler hints of a server.
_MICROVERSION = "compute 2.100"

_OK = 200


class Entered:
    """The search for such servers.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    """

    def __init__(self, nova: Any, listed: Callable[..., list[Any]], nodes: Nodes, placement: Placement) -> None:
        self._nova = nova
        self._listed = listed
        self._nodes = nodes
        self._placement = placement

    def by_hint(self, known: Known) -> list[Any]:
        """Return the servers on shared hosts of a lease that were booted with a hint of the lease and another flavor.

        An older Nova does not show hints, so such servers are left alone there.
        """
        names = {known.lease_id, *known.reservations}
        names |= {aggregate(known.lease_id, exclusive=exclusive) for exclusive in (True, False)}
        # One query for all hosts, because it is repeated while servers leave.
        listed = self._listed(project_id=known.project_id) if known.shared else []
        return [
            server
            for server in listed
            if of.service(server) in known.shared
            and server.tenant_id == known.project_id
            and of.made_for(server) is None
            and not names.isdisjoint(self._hinted(server.id))
        ]

    def on_their_way(self, known: Known, present: Iterable[Any]) -> list[Any]:
        """Return the servers of a lease's project that are on their way to hosts which the lease has for itself.

        Only Placement knows them: it counts what they need as soon as nova-scheduler has chosen the host.

        :param present: servers that are on these hosts already
        """
        providers = [self._nodes.node(host).provider_id for host in sorted(self._nodes.names(known.exclusive))]
        consumers = {each for provider_id in providers for each in self._placement.consumers_on(provider_id)}
        coming = consumers - {each.id for each in present}
        found = [server for consumer in sorted(coming) for server in self._listed(uuid=consumer)]
        return [
            each
            for each in found
            if each.tenant_id == known.project_id and of.service(each) is None and of.made_for(each) is None
        ]

    def _hinted(self, server_id: str) -> Collection[str]:
        """Return the leases that the hints of a server name."""
        # novaclient does not know this API version, so call its base class with our own header.
        headers = {"OpenStack-API-Version": _MICROVERSION}
        answer, body = LegacyJsonAdapter.request(
            self._nova.client, f"/servers/{server_id}", "GET", headers=headers, raise_exc=False
        )
        if answer.status_code != _OK:
            return ()
        assert isinstance(body, Mapping)
        hints: Mapping[str, Any] = body["server"].get("scheduler_hints") or {}
        return {name for hint in HINTS for name in _values(hints.get(hint))}


def _values(value: Any) -> list[str]:
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each]
