"""Operators of a world: they fill the pool, and then change it, switch hosts off, and load options again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from random import Random

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.rehearsal.actors.bookings import date
from lease_scheduler.rehearsal.actors.clients import NO_ANSWER, Observed, Person
from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.story import Story
from lease_scheduler.rehearsal.swarm import chosen, stream

#: Seconds between two actions: mean of an exponential distribution.
_MEAN_PAUSE = 2_400.0

_ATTEMPTS = 30

#: Seconds for which maintenance keeps a host free.
_MAINTENANCE = 1_800

#: Seconds after which what was deleted by hand is there again.
_REPAIR = 900.0

_PLACEMENT = "placement 1.38"


class Office:
    """An operator at work.

    :param reload: has all engines load their options again, with other values
    :param disturbances: record of what the operator changes
    """

    def __init__(
        self,
        client: Observed,
        hosts: Sequence[str],
        random: Random,
        story: Story,
        disturbances: Disturbances,
        reload: Callable[[Random], None],
    ) -> None:
        self.client, self.hosts, self.random, self.story, self.reload = client, hosts, random, story, reload
        self.disturbances = disturbances

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

    def destroys(self, what: str) -> None:
        """Note that something is destroyed that the service will repair."""
        self.disturbances.add(what, time.time() - EPOCH + _REPAIR)


Act = Callable[[Office], None]


def _take_out(office: Office) -> None:
    """Remove a host from the pool, and add it again later."""
    host = office.random.choice(office.hosts)
    answer = office.client.ask("GET", "os-hosts")
    if answer.status_code != 200:
        return
    is_over = office.disturbances.begin("take-out", host)
    for each in answer.json()["hosts"]:
        if each["hypervisor_hostname"] == host:
            status = office.client.ask("DELETE", f"os-hosts/{each['id']}").status_code
            office.tell(f"removes {host} from the pool: {status}")
    time.sleep(office.random.uniform(60.0, 3_600.0))
    office.add(host)
    is_over()


def _maintain(office: Office) -> None:
    """Keep a host free for a while."""
    host, start = office.random.choice(office.hosts), int(time.time()) + office.random.choice((120, 3_600))
    body = {"name": "maintenance", "start_date": date(start), "duration": _MAINTENANCE, "hosts": [host]}
    is_over = office.disturbances.begin("maintain", host)
    office.tell(f"maintains {host}: {office.client.ask('POST', 'maintenances', body).status_code}")
    is_over()
    office.disturbances.add("maintain", start + _MAINTENANCE - EPOCH, host)


def _disable(office: Office) -> None:
    """Disable a compute service, and enable it again later."""
    nova = office.client.nova
    host = office.random.choice(office.hosts)
    (service,) = nova.services.list(host=host, binary="nova-compute")
    is_over = office.disturbances.begin("disable", host)
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
            is_over()
            return


def _reload(office: Office) -> None:
    """Have the engines load other options."""
    office.disturbances.begin("reload")()
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
            office.destroys("delete-flavor")


def _delete_aggregate(office: Office) -> None:
    """Delete the aggregate of a lease, by mistake."""
    nova = office.client.nova
    found = [each for each in nova.aggregates.list() if names.lease_of_aggregate(each.name) is not None]
    if found:
        aggregate = office.random.choice(found)
        office.destroys("delete-aggregate")
        for host in aggregate.hosts:
            aggregate.remove_host(host)
        aggregate.delete()
        office.tell(f"deletes aggregate {aggregate.name}")


def _delete_allocation(office: Office) -> None:
    """Delete what is held for a lease in Placement, by mistake."""
    answer = office.client.ask("GET", "leases?all_projects=true")
    ids = [each["id"] for each in answer.json()["leases"]] if answer.status_code == 200 else []
    if ids:
        lease_id = office.random.choice(ids)
        office.destroys("delete-allocation")
        consumer = names.consumer(lease_id, 0)
        person = office.client.client
        assert isinstance(person, Person)
        status = person.command("placement", "DELETE", f"/allocations/{consumer}", _PLACEMENT).status_code
        office.story.tell("operator", f"deletes the allocation of a node of {lease_id}: {status}", lease_id)


#: Name -> what operators do.
ACTS: Mapping[str, Act] = {
    "take-out": _take_out,
    "maintain": _maintain,
    "disable": _disable,
    "reload": _reload,
    "delete-flavor": _delete_flavor,
    "delete-aggregate": _delete_aggregate,
    "delete-allocation": _delete_allocation,
}

#: Those that need a Nova.
_IN_NOVA = ("disable", "delete-flavor", "delete-aggregate", "delete-allocation")


def acts_for(seed: int, *, with_nova: bool) -> tuple[str, ...]:
    """Return the names of what the operator of a seed does."""
    return chosen(seed, "operator", known_acts(with_nova=with_nova))


def known_acts(*, with_nova: bool) -> tuple[str, ...]:
    """Return the names of what operators can do.

    :param with_nova: whether there is a Nova
    """
    return tuple(name for name in ACTS if with_nova or name not in _IN_NOVA)


class Operator:
    """An operator, who first adds all hosts to the pool.

    :param acts: names from ``ACTS``
    :param office: makes the desk at which they work, when they begin
    :ivar is_done: whether they change nothing more
    """

    def __init__(
        self,
        seed: int,
        acts: Sequence[str],
        office: Callable[[Random], Office],
    ) -> None:
        self._random, self._acts, self._office = stream(seed, "operator"), acts, office
        self.is_done = False

    def run(self) -> None:
        """Be the main thread of a process."""
        office = self._office(self._random)
        for host in office.hosts:
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
