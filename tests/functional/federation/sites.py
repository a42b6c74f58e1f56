"""Sites behind members: what the contract needs to ask them, and to let their time pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import openstack
from openstack.connection import Connection

from lease_scheduler.cloud.peers.timeouts import Timeouts
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Member, Verb
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources

HOUR = 3_600
#: Hosts of each site, and VCPU of a host.
HOSTS, VCPUS = 2, 8
#: An embedded service as a site, on which an hour takes a minute, and on which holds last as long as they are asked to.
SETTINGS = f"""
[simulated_cloud]
hosts = {HOSTS}
clock_start = 1800000000
clock_speed = 60
[service]
quote_lifetime = 86400
"""
#: What a node needs that fills a host.
WHOLE = Resources({VCPU: VCPUS})
#: For sites that are silent.
IMPATIENT = Timeouts(1.0, dict.fromkeys(Verb, 1.0))


@dataclass
class SiteBehind:
    """A site with ``HOSTS`` empty hosts behind a member.

    :ivar member: the member
    :ivar now: returns the present instant by the clock of the site
    :ivar wait: lets time pass until a condition holds
    :ivar size: what each node of an ask needs
    :ivar asked: ids of all leases that were asked for
    :ivar projects: two projects for which the member grants leases
    :ivar foreign: a project for which it grants none
    :ivar owner: returns the project of a lease by its id
    """

    member: Member
    now: Callable[[], int]
    wait: Callable[[Callable[[], bool]], object]
    size: Resources = WHOLE
    asked: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    foreign: str = ""
    owner: Callable[[str], str | None] = lambda lease_id: None

    def ask(self, count: int = HOSTS, kind: LeaseKind = LeaseKind.RESERVATION, hours: int = 2, **terms: Any) -> Ask:
        """Return an ask for whole hosts, by default for all of them from tomorrow on."""
        now = self.now()
        if kind is LeaseKind.RESERVATION:
            terms.setdefault("start", now + 24 * HOUR)
        asked = LeaseRequest(str(uuid4()), kind, (NodeSet(count, self.size),), now, hours * HOUR, **terms)
        self.asked.append(asked.lease_id)
        return Ask(asked, now + HOUR)

    def clear(self) -> None:
        """End everything that was asked for."""
        for lease_id in self.asked:
            self.member.end(lease_id)


@contextmanager
def connection_to(url: str, microversion: str | None = None) -> Iterator[Connection]:
    """Yield a connection of openstacksdk to the reservation service at a URL.

    :param microversion: the one that all requests have; None for the newest that both know
    """
    login: dict[str, Any] = {"auth_type": "admin_token", "auth": {"endpoint": f"{url}/v1", "token": "anything"}}
    if microversion is not None:
        login["reservation_default_microversion"] = microversion
    with openstack.connect(
        load_yaml_config=False, load_envvars=False, reservation_endpoint_override=f"{url}/v1", **login
    ) as connection:
        yield connection
