"""Images pre-cached by the service, on a cloud whose hosts fetch missing images at boot (haizea 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from lease_scheduler.cloud.facts import ImageFacts
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cloud.simulated_images import SimulatedImages
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.plan.transfers.options import Mechanism, TransferOptions
from lease_scheduler.service.core import known_images
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import CACHED_IMAGES
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until
from tests.site_engine import hypervisors, site_policies

#: Seconds of the service's clock per real second.
_SPEED = 20.0

_LIMIT = 60.0

#: Transferring it to a host at 1,000 Mb/s takes 30 s.
_SIZE_MB, _SECONDS = 3_750, 30

#: Seconds before its start at which a lease boots, and duration of a boot with a cached image.
_AHEAD_OF_START, _BOOTS = 20, 5

#: Seconds by which the engine may be late on a busy machine; less than a missing image adds to a boot.
_PROMPT = 12


class _Caches(SimulatedImages):
    """Records orders."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.orders: dict[int, ImageOrder] = {}

    def carry(self, order: ImageOrder) -> ImageProgress:
        self.orders[order.number] = order
        return super().carry(order)


class _Cloud(SimulatedCloud):
    """Knows the sizes of some images, and records requests."""

    def __init__(self, path: str, clock: AcceleratedClock, sizes: dict[str, int]) -> None:
        super().__init__(path, clock, CloudBehaviour(boot_time=_BOOTS, image_bandwidth=1_000))
        self._sizes = sizes
        self.asked_for_sizes: list[str] = []
        self.min_disk_gb = 2
        self.missing = {"deleted"}
        self.images = self
        self.image_caches = self.caches = _Caches(self._database, self._lock, self._now, self._behaviour)

    def facts(self, image_id: str) -> ImageFacts | None:
        self.asked_for_sizes.append(image_id)
        if image_id == "broken":
            raise ConnectionError("no image service")
        if image_id == "demanding":
            return ImageFacts(1, 1, min_disk_gb=self.min_disk_gb, min_memory_mb=50)
        if image_id == "private":
            return ImageFacts(1, 1, private_to=frozenset({"somebody else"}))
        if image_id in self.missing:
            return ImageFacts(exists=False)
        return ImageFacts(self._sizes[image_id]) if image_id in self._sizes else None


class _Service:
    """The engine of a site of three hosts; a new one in the same folder takes over from the previous one."""

    def __init__(self, folder: Path, clock: AcceleratedClock, transfers: TransferOptions | None) -> None:
        self.database = open_database(f"sqlite:///{folder}/service.sqlite")
        migrate.upgrade(self.database)
        self.clock = clock
        store = SqlStore(self.database)
        store.take_over("engine", clock.now())
        self.store, self.reader = store, SqlReader(self.database)
        self.cloud = _Cloud(f"{folder}/cloud.sqlite", clock, {"x": _SIZE_MB, "deleted": 1})
        names = [f"compute-{number}" for number in (1, 2, 3)]
        self.cloud.add_hypervisors(hypervisors(names, DISK_GB=100))
        self.site = SiteTransactions(
            store,
            self.cloud,
            clock,
            site_policies(transfers=transfers),
            ServiceOptions(
                EngineOptions(preparation_time=_AHEAD_OF_START, explain_refusals=False),
                workers=4,
                fallback_image_mb=_SIZE_MB,
            ),
            lambda: None,
        )
        self.engine = SiteEngine(self.site)
        self.engine.start()
        self.pool = PoolKeeper(self.engine)
        if not self.site.records.hosts:
            self.pool.create_hosts({}, names)
        self.leases = Leases(self.site, Enforcement())

    def ask(self, start: int, count: int = 1, image: str = "x", **said: Any) -> str:
        """Create a lease of whole hosts with a server on each."""
        document = lease_document("lease", "reservation", count, start=start, end=start + 600)
        document["reservations"][0]["disk_gb"] = 1
        document |= {"servers": [{"name": "s", "image_id": image}], **said}
        self.leases.create({}, document)
        return str(document["id"])

    def view(self, lease_id: str) -> dict[str, Any]:
        found = self.reader.lease(lease_id, deleted=True)
        assert found is not None
        return found

    def becomes(self, lease_id: str, state: str) -> None:
        assert wait_until(lambda: self.view(lease_id)["state"] == state, _LIMIT), self.view(lease_id)

    def is_carrying(self) -> None:
        """Wait for a request to the cloud, which follows after the state of the lease is recorded."""
        assert wait_until(lambda: bool(self.cloud.caches.orders), _LIMIT)

    def close(self) -> None:
        self.engine.close()
        self.cloud.close()
        self.database.dispose()


_AHEAD = TransferOptions(mechanism=Mechanism.UNICAST, required=False)

Begin = Callable[..., _Service]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a service that ends the previous one and continues from its state."""
    clock = AcceleratedClock(1_000_000, _SPEED)
    running: list[_Service] = []

    def make(transfers: TransferOptions | None = _AHEAD) -> _Service:
        while running:
            running.pop().close()
        running.append(_Service(tmp_path, clock, transfers))
        return running[-1]

    yield make
    while running:
        running.pop().close()


def _names(service: _Service, lease_id: str) -> set[str]:
    lease = service.site.engine.lease(lease_id)
    assert lease is not None
    hosts = service.site.engine.site.hosts
    return {hosts[number].name for number in lease.holdings[0].assignment}


def test_an_image_is_there_when_its_lease_boots(begin: Begin) -> None:
    """The preparation shows over REST, in the history and in notifications (haizea F15)."""
    service = begin()
    start = service.clock.now() + 150
    lease_id = service.ask(start, count=2)
    hosts = _names(service, lease_id)

    service.becomes(lease_id, "preparing")
    service.becomes(lease_id, "active")

    (order,) = service.cloud.caches.orders.values()
    assert (order.image_id, order.hosts) == ("x", frozenset(hosts))
    assert start - _AHEAD_OF_START - 2 * _SECONDS <= order.begun <= start - _AHEAD_OF_START
    assert service.cloud.caches.hosts_with("x") == hosts
    # Its boot had nothing to fetch.
    assert service.view(lease_id)["started"] < start + _PROMPT
    states = [entry["to"] for entry in service.reader.history(lease_id)]
    assert states[-4:] == ["ready", "preparing", "ready", "active"], states
    told = [message.payload.get("state") for _, message in service.store.waiting_messages()]
    assert "preparing" in told
    assert service.cloud.asked_for_sizes == ["x"]


def test_who_begins_at_once_fetches_it_by_his_boot(begin: Begin) -> None:
    """Nothing is transferred for an immediate lease; it prefers the host that has its image."""
    service = begin()
    now = service.clock.now()
    document = lease_document("lease", "immediate", 1, duration=600) | {"servers": [{"name": "s", "image_id": "x"}]}
    document["reservations"][0]["disk_gb"] = 1
    service.leases.create({}, document)
    lease_id = str(document["id"])
    service.becomes(lease_id, "active")
    assert service.view(lease_id)["started"] >= now + _SECONDS + _BOOTS
    (host,) = _names(service, lease_id)
    service.leases.end({}, lease_id)
    service.becomes(lease_id, "done")

    again = service.ask(service.clock.now() + 60)

    assert _names(service, again) == {host}
    service.becomes(again, "active")
    assert not service.cloud.caches.orders


def test_without_the_option_nobody_brings_images(begin: Begin) -> None:
    service = begin(None)

    service.becomes(service.ask(service.clock.now() + 60), "active")

    assert not service.cloud.caches.orders
    # The requirements of the image are compared with the lease all the same.
    assert service.cloud.asked_for_sizes == ["x"]


@pytest.mark.parametrize("transfers", [None, _AHEAD], ids=["not brought", "brought"])
def test_a_lease_that_is_too_small_for_its_image_is_refused(begin: Begin, transfers: TransferOptions | None) -> None:
    """Otherwise Nova would refuse its servers at the start, three times."""
    service = begin(transfers)
    with pytest.raises(RefusedError, match="give at least 2 per server") as refused:
        service.ask(service.clock.now() + 600, image="demanding")
    assert refused.value.code == 400
    assert refused.value.field == "reservations[0].disk_gb"
    assert list(service.reader.leases({})) == []


@pytest.mark.parametrize("image", ["deleted", "private"])
def test_a_lease_whose_image_nobody_finds_is_refused(begin: Begin, image: str) -> None:
    """Otherwise Nova would refuse its servers at the start. A missing and a foreign image give the same answer."""
    service = begin()
    with pytest.raises(RefusedError, match=f"there is no image {image}") as refused:
        service.ask(service.clock.now() + 600, image=image)
    assert (refused.value.code, refused.value.field) == (400, "servers[0].image_id")
    assert list(service.reader.leases({})) == []
    service.cloud.missing.clear()
    # A new upload is visible at once.
    if image == "deleted":
        assert service.view(service.ask(service.clock.now() + 600, image=image))["state"] == "ready"


def test_a_lease_goes_on_whose_image_was_deleted(begin: Begin) -> None:
    """Its servers may run already."""
    service = begin()
    start = service.clock.now() + 600
    lease_id = service.ask(start, image="uploaded")
    service.cloud.missing.add("uploaded")
    service.leases.update({}, lease_id, {"end": start + 1_000})
    assert service.view(lease_id)["end"] == start + 1_000


def test_an_image_that_was_edited_is_asked_for_again(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    service = begin()
    with pytest.raises(RefusedError):
        service.ask(service.clock.now() + 600, image="demanding")
    service.cloud.min_disk_gb = 1
    monkeypatch.setattr(known_images, "_FRESH", 0.0)
    lease_id = service.ask(service.clock.now() + 600, image="demanding")
    assert service.view(lease_id)["state"] == "ready"
    assert service.cloud.asked_for_sizes == ["demanding", "demanding"]


def test_an_engine_that_takes_over_knows_what_hosts_have(begin: Begin) -> None:
    """One engine ends during a transfer; the image is transferred again only to hosts that lack it."""
    service = begin()
    now = service.clock.now()
    service.becomes(service.ask(now, end=now + 200), "active")
    with service.database.connect() as connection:
        assert [row.image_id for row in connection.execute(select(CACHED_IMAGES))] == ["x"]
    start = now + 320
    lease_id = service.ask(start, count=3)
    service.becomes(lease_id, "preparing")
    service.is_carrying()
    before = service.cloud.caches.orders[max(service.cloud.caches.orders)]
    assert len(before.hosts) == 2

    service = begin()
    service.becomes(lease_id, "active")

    assert [order.hosts for order in service.cloud.caches.orders.values()] == [before.hosts]
    assert service.cloud.asked_for_sizes == []


def test_who_was_preparing_is_ready_when_nobody_brings_images_any_more(begin: Begin) -> None:
    service = begin()
    lease_id = service.ask(service.clock.now() + 100)
    service.becomes(lease_id, "preparing")

    service = begin(None)
    service.becomes(lease_id, "ready")
    service.becomes(lease_id, "active")


@pytest.mark.parametrize("image", ["nobody-knows", "broken"])
def test_a_size_that_nobody_knows_is_guessed(begin: Begin, image: str) -> None:
    """There is no image service, or it does not answer; a lease is not refused for that."""
    service = begin()
    lease_id = service.ask(service.clock.now() + 100, image=image)

    service.becomes(lease_id, "preparing")
    service.is_carrying()

    (order,) = service.cloud.caches.orders.values()
    assert order.due - order.begun == _SECONDS


def test_what_a_host_had_is_forgotten_with_it(begin: Begin) -> None:
    service = begin()
    lease_id = service.ask(service.clock.now())
    service.becomes(lease_id, "active")
    (name,) = _names(service, lease_id)
    host_id = next(str(host.host_id) for host in service.site.records.hosts.values() if host.name == name)
    service.leases.delete({}, lease_id, "")

    service.pool.delete_host({}, host_id)

    with service.database.connect() as connection:
        assert not connection.execute(select(CACHED_IMAGES)).all()
    begin()


def test_servers_that_boot_from_volumes_need_no_image(begin: Begin) -> None:
    service = begin()
    server = {"name": "s", "image_id": "x", "volume": {"size_gb": 10}}
    lease_id = service.ask(service.clock.now() + 60, servers=[server])

    service.becomes(lease_id, "active")

    assert not service.cloud.caches.orders
