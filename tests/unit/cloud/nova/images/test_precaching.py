"""Images that Nova is asked to cache on hosts, and its notifications about that (haizea 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from keystoneauth1.exceptions.http import NotFound as NoImage
from novaclient.exceptions import Forbidden, NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.facts import ImageFacts
from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.api.hints import CacheHint, read
from lease_scheduler.cloud.nova.api.hosts import Node
from lease_scheduler.cloud.nova.api.images import GlanceImages
from lease_scheduler.cloud.nova.images.precaching import CachePreloading
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress

_IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
_NAME = f"lease-precache-{_IMAGE}"
_ORDER = ImageOrder(1, _IMAGE, frozenset({"a", "b"}), 1_000, 1_100)


class _Nova:
    """The aggregates of a Nova."""

    def __init__(self) -> None:
        self.made: dict[int, SimpleNamespace] = {}
        self.cached: list[tuple[str, frozenset[str], Sequence[str]]] = []
        self.is_allowed = True
        self.aggregates = self

    def list(self) -> list[SimpleNamespace]:
        return list(self.made.values())

    def get(self, number: int) -> SimpleNamespace:
        if number not in self.made:
            raise NotFound(404)
        return self.made[number]

    def create(self, name: str, zone: str | None) -> SimpleNamespace:
        assert zone is None
        number = len(self.made) + 1
        self.made[number] = SimpleNamespace(id=number, name=name, metadata={}, hosts=[], availability_zone=None)
        return self.made[number]

    def delete(self, aggregate: SimpleNamespace) -> None:
        assert not aggregate.hosts
        del self.made[aggregate.id]

    def add_host(self, aggregate: SimpleNamespace, host: str) -> None:
        aggregate.hosts.append(host)

    def remove_host(self, aggregate: SimpleNamespace, host: str) -> None:
        aggregate.hosts = [each for each in aggregate.hosts if each != host]

    def cache_images(self, aggregate: SimpleNamespace, images: Sequence[str]) -> Any:
        if not self.is_allowed:
            raise Forbidden(403, "Policy doesn't allow os_compute_api:os-aggregates:images to be performed.")
        self.cached.append((aggregate.name, frozenset(aggregate.hosts), images))
        return SimpleNamespace(request_ids=[f"req-{len(self.cached)}"])


class _Hosts:
    def node(self, name: str) -> Node | None:
        return Node(name, f"{name}.example.org", f"id of {name}") if name in ("a", "b", "c") else None


class _Clock:
    instant = 1_000

    def now(self) -> int:
        return self.instant

    def seconds_until(self, instant: int) -> float:
        return 0.0


class _World:
    def __init__(self) -> None:
        self.nova, self.clock = _Nova(), _Clock()
        self.precaching = self.engine()

    def engine(self) -> CachePreloading:
        """Return the pre-caching of a new engine, which knows nothing yet."""
        return CachePreloading(self.clock, Aggregates(self.nova), _Hosts())  # type: ignore[arg-type]

    def at(self, instant: int, order: ImageOrder = _ORDER) -> ImageProgress:
        self.clock.instant = instant
        return self.precaching.carry(order)

    def say(self, phase: str, host: str | None = None, *cached: str, request_id: str = "req-1") -> None:
        service = None if host is None else f"{host}.example.org"
        self.precaching.hear(CacheHint(phase, _NAME, request_id, service, frozenset(cached)))


@pytest.fixture
def world() -> _World:
    return _World()


def test_an_aggregate_of_its_hosts_is_there_for_a_while(world: _World) -> None:
    assert world.at(1_000) == ImageProgress()
    (made,) = world.nova.list()
    assert (made.name, made.metadata, made.availability_zone) == (_NAME, {}, None)
    hosts = frozenset({"a.example.org", "b.example.org"})
    assert world.nova.cached == [(_NAME, hosts, [_IMAGE])]

    assert world.at(1_099) == ImageProgress()
    assert world.at(1_100) == ImageProgress(frozenset({"a", "b"}), {}, is_over=True)

    assert world.nova.list() == []
    assert len(world.nova.cached) == 1


def test_notifications_say_when_it_is_over(world: _World) -> None:
    """Each host separately, before and after the planned time."""
    world.at(1_000)
    world.say("start")
    world.say("progress", "a", _IMAGE)
    assert world.at(1_050) == ImageProgress(frozenset({"a"}))
    assert not world.at(1_150).is_over
    world.say("progress", "b")
    world.say("end")

    over = world.at(1_160)

    assert (over.there, set(over.failed), over.is_over) == (frozenset({"a"}), {"b"}, True)
    assert world.nova.list() == []


def test_an_end_that_is_not_heard_is_not_waited_for_for_ever(world: _World) -> None:
    world.at(1_000)
    world.say("start")
    world.say("progress", "a", _IMAGE)
    assert not world.at(1_259).is_over

    over = world.at(1_260)

    assert (over.there, set(over.failed), over.is_over) == (frozenset({"a"}), {"b"}, True)


def test_what_another_engine_has_asked_for_does_not_count(world: _World) -> None:
    """The other engine was killed, and the request that it started goes on under the same name."""
    world.at(1_000)
    world.say("end", request_id="req-of-another")

    assert not world.at(1_050).is_over


def test_an_engine_that_takes_over_finds_what_was_left(world: _World) -> None:
    world.at(1_000)
    world.nova.create("freepool", None)
    world.precaching = world.engine()

    world.precaching.clear()

    assert [each.name for each in world.nova.list()] == ["freepool"]
    assert not world.at(1_010, ImageOrder(1, _IMAGE, frozenset({"b", "c"}), 1_010, 1_100)).is_over
    assert world.nova.cached[-1][1] == {"b.example.org", "c.example.org"}


def test_a_host_that_is_gone_does_not_get_it(world: _World) -> None:
    over = world.at(1_100, ImageOrder(1, _IMAGE, frozenset({"a", "gone"}), 1_000, 1_100))

    assert (over.there, set(over.failed), over.is_over) == (frozenset({"a"}), {"gone"}, True)
    with pytest.raises(StepFailedError, match="gone"):
        world.at(1_100, ImageOrder(2, _IMAGE, frozenset({"gone"}), 1_000, 1_100))


def test_a_nova_that_does_not_let_us_is_told_of(world: _World) -> None:
    world.nova.is_allowed = False

    with pytest.raises(StepFailedError, match="os-aggregates:images"):
        world.at(1_000)

    assert world.nova.list() == []


def _notification(phase: str, **data: Any) -> CacheHint | None:
    payload = {"nova_object.data": {"id": 7, "name": _NAME, **data}}
    found = read("nova-conductor:c", f"aggregate.cache_images.{phase}", payload, {"request_id": "req-1"})
    assert found is None or isinstance(found, CacheHint)
    return found


def test_what_nova_sends_is_understood() -> None:
    """Samples: aggregate-cache_images-start, -progress and -end of Nova 33."""
    assert _notification("start", hosts=["a"]) == CacheHint("start", _NAME, "req-1")
    progress = _notification("progress", host="a", images_cached=[_IMAGE], images_failed=[], index=1, total=1)
    assert progress == CacheHint("progress", _NAME, "req-1", "a", frozenset({_IMAGE}))
    assert _notification("progress", host=3, images_cached=7) == CacheHint("progress", _NAME, "req-1")
    assert read("nova-conductor:c", "aggregate.cache_images.end", {}, None) is None


class _Glance:
    def __init__(self, **said: Any) -> None:
        self._said = said
        self.paths: list[str] = []

    def get(self, path: str, timeout: float) -> Any:
        self.paths.append(path)
        if not self._said:
            raise NoImage
        return SimpleNamespace(json=lambda: self._said)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ({"size": 1024 * 1024 * 5, "virtual_size": 1024**3}, ImageFacts(5, 5)),
        ({"size": 1}, ImageFacts(1, 1)),
        ({"size": None, "virtual_size": 1024**3}, ImageFacts(1024)),
        ({"size": None, "virtual_size": None, "min_disk": 2}, ImageFacts(2048, 0, 2)),
        ({"size": 1, "min_disk": 20, "min_ram": 512}, ImageFacts(1, 1, 20, 512)),
        ({"size": 0, "min_disk": 0}, ImageFacts()),
        ({"size": 0, "visibility": "private", "owner": "p"}, ImageFacts(private_to=frozenset({"p"}))),
        ({"size": 0, "visibility": "community", "owner": "p"}, ImageFacts()),
        (
            {"size": 0, "min_ram": 512, "visibility": "shared", "owner": "p", "members": [{"member_id": "q"}]},
            ImageFacts(min_memory_mb=512, private_to=frozenset({"p", "q"})),
        ),
        ({}, ImageFacts(exists=False)),
    ],
)
def test_facts_of_an_image(said: dict[str, Any], facts: ImageFacts) -> None:
    """The size to be copied, or else the size on the host's disk; None if there is no such image."""
    assert GlanceImages(lambda: _Glance(**said)).facts("x") == facts  # type: ignore[arg-type, return-value]


def test_an_id_is_no_path() -> None:
    glance = _Glance(size=1)
    GlanceImages(lambda: glance).facts("../tasks?x")  # type: ignore[arg-type, return-value]
    assert glance.paths == ["/v2/images/..%2Ftasks%3Fx"]
