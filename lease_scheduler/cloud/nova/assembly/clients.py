"""The clients of OpenStack's services that the driver uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease.shares import Agents


def _no_agents() -> None:
    return None


@dataclass(frozen=True)
class NovaClients:
    """Clients of the services of an OpenStack. Functions are called only when the client is needed.

    :ivar nova: novaclient's client with administrator rights
    :ivar nova_with_facts: the same with a version of the compute API that shows all facts of hypervisors
    :ivar network: returns an adapter for Neutron
    :ivar glance: returns an adapter for Glance
    :ivar on_behalf_of: returns a client that acts for the user who gave a trust
    :ivar end_trust: deletes a trust, if it exists
    :ivar trusts: returns id of each trust that was given to the service's user -> whether it is of this site and so old
        that it is left over unless a lease has it; None to leave trusts out of comparisons
    :ivar user_id: returns the id of the service's own user; None to leave broken images out of comparisons
    :ivar agents: returns a client of the agents of hosts, or None if there are no agents
    """

    nova: Any
    nova_with_facts: Any
    placement: Placement
    network: Callable[[], Adapter]
    glance: Callable[[], Adapter]
    on_behalf_of: Callable[[str | None], Any]
    end_trust: Callable[[str], None]
    trusts: Callable[[], Mapping[str, bool]] | None = None
    user_id: Callable[[], str | None] | None = None
    agents: Callable[[], Agents | None] = _no_agents
