"""Operators of a world: they fill the pool, and then change it, switch hosts off, and load options again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random

from novaclient.exceptions import ClientException

from lease_scheduler.rehearsal.actors.bookings import Client, date
from lease_scheduler.rehearsal.actors.clients import NO_ANSWER
from lease_scheduler.rehearsal.story import Story
from lease_scheduler.rehearsal.swarm import chosen, stream

#: Seconds between two actions: mean of an exponential distribution.
_MEAN_PAUSE = 2_400.0

_ATTEMPTS = 30


class Office:
    """An operator at work.

    :param reload: has all engines load their options again, with other values
    """

    def __init__(
        self, client: Client, hosts: Sequence[str], random: Random, story: Story, reload: Callable[[Random], None]
    ) -> None:
        self.client, self.hosts, self.random, self.story, self.reload = client, hosts, random, story, reload

    def tell(self, what: str) -> None:
        """Add something to the story."""
        self.story.tell("operator", what)

    def add(self, host: str) -> None:
        """Add a host to the pool; try again while nobody answers or no engine leads."""
        for _ in range(_ATTEMPTS):
            try:
                status = self.client.ask("POST", "os-hosts", {"name": host}).status_code
            except NO_ANSWER:
                status = 503
            if status < 500:
                self.tell(f"adds {host} to the pool: {status}")
                return
            time.sleep(2.0)


Act = Callable[[Office], None]


def _take_out(office: Office) -> None:
    """Remove a host from the pool, and add it again later."""
    host = office.random.choice(office.hosts)
    answer = office.client.ask("GET", "os-hosts")
    if answer.status_code != 200:
        return
    for each in answer.json()["hosts"]:
        if each["hypervisor_hostname"] == host:
            status = office.client.ask("DELETE", f"os-hosts/{each['id']}").status_code
            office.tell(f"removes {host} from the pool: {status}")
    time.sleep(office.random.uniform(60.0, 3_600.0))
    office.add(host)


def _maintain(office: Office) -> None:
    """Keep a host free for a while."""
    host, start = office.random.choice(office.hosts), int(time.time()) + office.random.choice((120, 3_600))
    body = {"name": "maintenance", "start_date": date(start), "duration": 1_800, "hosts": [host]}
    office.tell(f"maintains {host}: {office.client.ask('POST', 'maintenances', body).status_code}")


def _disable(office: Office) -> None:
    """Disable a compute service, and enable it again later."""
    nova = office.client.nova
    host = office.random.choice(office.hosts)
    (service,) = nova.services.list(host=host, binary="nova-compute")
    nova.services.disable(service.id)
    office.tell(f"disables {host}")
    time.sleep(office.random.uniform(60.0, 3_600.0))
    for _ in range(_ATTEMPTS):
        try:
            nova.services.enable(service.id)
        except NO_ANSWER:
            time.sleep(5.0)
        else:
            office.tell(f"enables {host}")
            return


def _reload(office: Office) -> None:
    """Have the engines load other options."""
    office.reload(office.random)
    office.tell("has the engines load their options again")


def _delete_flavor(office: Office) -> None:
    """Delete the flavor of a lease, by mistake."""
    nova = office.client.nova
    found = [each for each in nova.flavors.list(is_public=None) if each.name.startswith("lease-")]
    if found:
        flavor = office.random.choice(found)
        try:
            flavor.delete()
        except ClientException as error:
            office.tell(f"may not delete flavor {flavor.name}: {error.code}")
        else:
            office.tell(f"deletes flavor {flavor.name}")


#: Name -> what operators do.
ACTS: Mapping[str, Act] = {
    "take-out": _take_out,
    "maintain": _maintain,
    "disable": _disable,
    "reload": _reload,
    "delete-flavor": _delete_flavor,
}

#: Those that need a Nova.
_IN_NOVA = ("disable", "delete-flavor")


class Operator:
    """An operator, who first adds all hosts to the pool.

    :param connect: makes their client, when the operator begins
    :param calm: true seconds since the world began after which they change nothing more
    :param reload: see ``Office``
    """

    def __init__(
        self,
        seed: int,
        connect: Callable[[], Client],
        hosts: Sequence[str],
        story: Story,
        reload: Callable[[Random], None],
        *,
        with_nova: bool,
    ) -> None:
        self._random = stream(seed, "operator")
        known = tuple(name for name in ACTS if with_nova or name not in _IN_NOVA)
        self._acts = chosen(seed, "operator", known)
        self._connect, self._hosts, self._story, self._reload = connect, hosts, story, reload
        self.is_done = False

    def run(self) -> None:
        """Be the main thread of a process."""
        office = Office(self._connect(), self._hosts, self._random, self._story, self._reload)
        for host in self._hosts:
            office.add(host)
        while self._acts:
            time.sleep(self._random.expovariate(1.0 / _MEAN_PAUSE))
            if self.is_done:
                return
            name = self._random.choice(self._acts)
            try:
                ACTS[name](office)
            except NO_ANSWER as error:
                office.tell(f"gets no answer to {name}: {type(error).__name__}")
