"""Owners of servers who would not make room for the leases of others, on a real Nova.

Whatever they do to their servers, the next lease gets its hosts, and no host runs more than it has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.functional.lab.attacks import repeated
from tests.functional.lab.sampler import Sampler
from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    host_of,
    in_seconds,
    preemptible_flavor,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

#: Nothing runs in the servers of the lab that would have to be shut down.
_SETTINGS = {"scheduling": {"stop_time": 1}}

#: Seconds after its planned start for which a lease may wait for servers that resist, on a machine that is busy.
_LATE = 60.0

#: Seconds that a reservation lasts.
_LASTS = 150

#: Nova keeps at most so many tags of a server.
_TAGS = 50

_NAMES = [host.name for host in LAB_HOSTS]

_Attack = Callable[[CloudClient, CloudClient, str], object]


def _rescue(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.act(server, "rescue")


def _fill_tags(owner: CloudClient, _: CloudClient, server: str) -> None:
    present = owner.compute("GET", f"/servers/{server}/tags")["tags"]
    for number in range(_TAGS - len(present)):
        owner.compute("PUT", f"/servers/{server}/tags/mine-{number}")


def _fail(_: CloudClient, admin: CloudClient, server: str) -> None:
    """A member gets there by a resize and a revert at the right moment, which no test meets reliably."""
    admin.act(server, "os-resetState", state="error")


def _rename(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.compute("PUT", f"/servers/{server}", {"server": {"name": "n" * 255}})


def _reboot(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.act(server, "reboot", type="HARD")


def _make_image(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.act(server, "createImage", name="mine")


def _lock(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.act(server, "lock")


def _start(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.compute("POST", f"/servers/{server}/action", {"os-start": None})


def _resume(owner: CloudClient, _: CloudClient, server: str) -> None:
    owner.compute("POST", f"/servers/{server}/action", {"resume": None})


#: What owners do, and whether they do it again and again.
_ATTACKS: dict[str, tuple[_Attack, bool]] = {
    "rescue": (_rescue, True),
    "fifty tags": (_fill_tags, False),
    "error": (_fail, False),
    "long name": (_rename, False),
    "lock": (_lock, True),
    "reboots": (_reboot, True),
    "images": (_make_image, True),
}


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """Our service on the lab, with all hosts in its pool."""
    with running_service(lab, settings=_SETTINGS) as started:
        yield started


@pytest.fixture(scope="module")
def preemptible(admin: CloudClient) -> Iterator[str]:
    """A flavor of preemptible servers, two of which fill a host."""
    with preemptible_flavor(admin, 7_800) as flavor:
        yield flavor


@pytest.fixture
def servers(service: Service) -> Iterator[list[str]]:
    """Servers that are deleted after the test with the images of them, whatever its outcome."""
    made: list[str] = []
    yield made
    service.remove_servers(made)
    for image in service.admin.image("GET", "/v2/images?visibility=private&limit=500")["images"]:
        if image["name"] == "mine":
            service.admin.image("DELETE", f"/v2/images/{image['id']}")


def _best_effort(service: Service, exclusive: bool, mode: str = "shelve") -> Document:
    """Return an active best-effort lease of two hosts."""
    nodes: Document = {"count": 2, "exclusive": True} if exclusive else {"count": 8}
    lease = service.lease(
        service.ada,
        kind="best-effort",
        duration=3_600,
        preemption_mode=mode,
        nodes=[{"resources": QUARTER, **nodes}],
    )
    service.becomes(lease, "active")
    return lease


def _boot(service: Service, lease: Document, exclusive: bool, count: int) -> list[str]:
    """Return servers of a lease that run."""
    tenant = service.client(service.ada)
    found = service.admin.compute("GET", "/flavors?is_public=None")["flavors"]
    own = [str(each["id"]) for each in found if lease["id"] in each["name"]]
    flavor = service.lab.flavors["large"] if exclusive else own[0]
    made = [tenant.boot("mine", flavor, {"lease": lease["id"]}) for _ in range(count)]
    assert set(service.settled(made).values()) == {"ACTIVE"}
    return made


def _reservation(service: Service) -> tuple[Document, int, int]:
    """Request all hosts for another project. Return the lease, its start and its end, in seconds since the epoch."""
    begins = PREPARATION + 10
    (start_date, start), (end_date, end) = in_seconds(begins), in_seconds(begins + _LASTS)
    nodes = [{"count": len(_NAMES), "exclusive": True, "resources": QUARTER}]
    terms: Document = {"kind": "reservation", "start_date": start_date, "end_date": end_date, "nodes": nodes}
    return service.lease(service.bob, **terms), start, end


def _gets_all(service: Service, lease: Document, start: int) -> float:
    """Wait until a reservation has its hosts. Return by how many seconds it was late."""
    service.becomes(lease, "active")
    late = service.became(lease, "active") - start
    assert late <= _LATE, (late, service.said())
    assert service.show(lease)["degraded"] is False, service.said()
    return late


@contextmanager
def _attacked(service: Service, servers: list[str], attack: str) -> Iterator[None]:
    """The owner does this to their servers before a block runs, and goes on meanwhile if that is of any use."""
    do, again = _ATTACKS[attack]
    calls = [partial(do, service.client(service.ada), service.admin, each) for each in servers]
    for call in calls:
        call()
    with repeated(calls if again else []):
        yield


@pytest.mark.parametrize("exclusive", [True, False], ids=["whole hosts", "shared hosts"])
@pytest.mark.parametrize("attack", ["rescue", "fifty tags", "error", "long name"])
def test_servers_of_a_best_effort_lease(
    service: Service, leases: list[Document], servers: list[str], attack: str, exclusive: bool
) -> None:
    """The lease is preempted although its servers are as its project would like them to be."""
    first = _best_effort(service, exclusive)
    leases.append(first)
    mine = _boot(service, first, exclusive, 2)
    servers += mine
    with Sampler(service) as sampler, _attacked(service, mine, attack):
        second, start, _ = _reservation(service)
        leases.append(second)
        late = _gets_all(service, second, start)
        time.sleep(3)
        assert sampler.foreign(service.ada.project_id, _NAMES, start + late, time.time()) == []
    assert sampler.oversold() == []
    print(f"{attack}: {late:.1f} s late, {len(sampler.samples)} samples")


@pytest.mark.parametrize("attack", sorted(_ATTACKS))
def test_preemptible_servers(
    service: Service, leases: list[Document], servers: list[str], preemptible: str, attack: str
) -> None:
    """They make room for a lease."""
    ada = service.client(service.ada)
    mine = [ada.boot("guest", preemptible) for _ in range(2)]
    servers += mine
    assert set(service.settled(mine).values()) == {"ACTIVE"}
    with Sampler(service) as sampler, _attacked(service, mine, attack):
        lease, start, _ = _reservation(service)
        leases.append(lease)
        late = _gets_all(service, lease, start)
        time.sleep(3)
        assert sampler.foreign(service.ada.project_id, _NAMES, start + late, time.time()) == []
    assert sampler.oversold() == []
    print(f"{attack}: {late:.1f} s late, {len(sampler.samples)} samples")


@pytest.mark.parametrize("exclusive", [True, False], ids=["whole hosts", "shared hosts"])
@pytest.mark.parametrize("mode", ["stop", "suspend"])
def test_servers_that_are_put_away_stay_away(
    service: Service, leases: list[Document], servers: list[str], mode: str, exclusive: bool
) -> None:
    """Their owner starts them again and again; they run when their lease does, and what runs is never too much."""
    ada = service.client(service.ada)
    first = _best_effort(service, exclusive, mode)
    leases.append(first)
    mine = _boot(service, first, exclusive, 2)
    servers += mine
    begin = _start if mode == "stop" else _resume
    with Sampler(service) as sampler, repeated([partial(begin, ada, service.admin, each) for each in mine]):
        second, start, end = _reservation(service)
        leases.append(second)
        late = _gets_all(service, second, start)
        # Its owner fills the hosts.
        bob = service.client(service.bob)
        full = [bob.boot("full", service.lab.flavors["large"], {"lease": second["id"]}) for _ in _NAMES]
        servers += full
        assert set(service.settled(full).values()) == {"ACTIVE"}
        assert wait_until(lambda: time.time() > end - 2, _LASTS)
        assert sampler.foreign(service.ada.project_id, _NAMES, start + late, end - 2) == []
        service.becomes(second, "done")
        service.becomes(first, "active")
        assert service.settled(mine) == dict.fromkeys(mine, "ACTIVE")
        assert {host_of(service.admin.server(each)) for each in mine} <= set(_NAMES)
    assert sampler.oversold() == []
    assert wait_until(lambda: not any(service.exists(each) for each in full), LIMIT)
    print(f"{mode}: {late:.1f} s late, {len(sampler.samples)} samples")
