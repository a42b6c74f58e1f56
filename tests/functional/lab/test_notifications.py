"""Events in Nova are noticed at once, by notifications: the intervals of polling are too long to explain it."""

from __future__ import annotations

import operator
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.observations import AggregateChange, ServerChange, Stranger
from lease_scheduler.cmd import configuration, messaging
from lease_scheduler.cmd.clouds.nova import ConfiguredNova
from lease_scheduler.engine.interfaces import EventKind
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import PASSWORD
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.identity import SERVICE_PROJECT
from tests.servers.openstack.lab import OUR_USER, Lab
from tests.servers.openstack.notifications import NotificationRecorder
from tests.unit.cloud.nova.sinks import RecordingSink

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("whole_lab"),
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_LIMIT = 120.0
_AT_ONCE = 2.0
_QUEUE = "lease-scheduler.default"
_HOSTS = {host.name for host in LAB_HOSTS}


class Observer:
    """A watcher on the lab, and what it has reported, each with its instant."""

    def __init__(self, folder: Path, lab: Lab, *, inspect_interval: float = 60, topics: str | None = None) -> None:
        self._lab = lab
        login = (
            f"auth_type = password\nauth_url = {lab.keystone.url}\nusername = {OUR_USER}\npassword = {PASSWORD}\n"
            f"project_name = {SERVICE_PROJECT}\nuser_domain_id = default\nproject_domain_id = default\n"
        )
        path = folder / "service.conf"
        path.write_text(
            f"[DEFAULT]\ntransport_url = {lab.transport_url}\n"
            f"[nova]\nwatch_interval = 60\ninspect_interval = {inspect_interval}\n{login}"
            + ("" if topics is None else f"notification_topics = {topics}\n")
        )
        conf = configuration.load(["--config-file", str(path)])
        # The engine has a transport for requests before it leads.
        messaging.rpc_transport(conf).cleanup()
        cloud = ConfiguredNova(conf)
        connection = cloud.connection()
        self.nova = connection.nova
        hosts = Hosts(connection.nova_with_facts, Placement(connection.placement))
        hosts.describe()
        self.told: list[tuple[float, Any]] = []
        self._listens = topics is None
        self.watcher = cloud.watching(connection)(
            hosts, FlavorCatalogue(self.nova, PciAliases()), lambda lease_id: True, lambda: _HOSTS
        )

    def start(self) -> None:
        """Start, and return when it listens and has polled for the first time."""

        def listens() -> bool:
            return any(each["name"] == _QUEUE for each in self._lab.rabbitmq.manage("GET", "queues/%2F"))

        note = self._note
        self.watcher.start(
            RecordingSink(on_event=note, on_server=note, on_hosts=note, on_aggregate=note, on_stranger=note)
        )
        assert not self._listens or wait_until(listens, _LIMIT)
        assert wait_until(lambda: self.hosts_told() >= _HOSTS and len(self.events()) >= len(_HOSTS), _LIMIT), self.told

    def _note(self, what: Any) -> None:
        self.told.append((time.time(), what))

    def hosts_told(self) -> set[str]:
        return {name for _, what in list(self.told) if isinstance(what, frozenset) for name in what}

    def events(self) -> list[DriverEvent]:
        return [what for _, what in list(self.told) if isinstance(what, DriverEvent)]

    def is_told_at_once(self, fits: Callable[[Any], bool], begun: float) -> None:
        """Return whether a matching report comes within two seconds of an instant."""

        def found() -> list[float]:
            return [at for at, what in list(self.told) if at >= begun and fits(what)]

        assert wait_until(lambda: bool(found()), _LIMIT / 4), self.told
        assert found()[0] - begun < _AT_ONCE


@pytest.fixture
def observe(tmp_path: Path, lab: Lab) -> Iterator[Callable[..., Observer]]:
    """Starts a watcher, which ends with the test."""
    with ExitStack() as stack:

        def start(**options: Any) -> Observer:
            observer = Observer(tmp_path, lab, **options)
            stack.callback(observer.watcher.stop)
            observer.start()
            return observer

        yield start


@pytest.fixture
def recorder(lab: Lab) -> Iterator[NotificationRecorder]:
    with NotificationRecorder(lab.rabbitmq) as started:
        yield started


@contextmanager
def _lease(lab: Lab, admin: CloudClient, host: str, *, exclusive: bool, project: str) -> Iterator[tuple[str, str]]:
    """Create what the engine creates for a lease on one host; yield the ids of the lease and of its flavor."""
    lease_id = str(uuid.uuid4())
    name = names.aggregate(lease_id, exclusive=exclusive)
    aggregate = admin.compute("POST", "/os-aggregates", {"aggregate": {"name": name}})["aggregate"]["id"]
    metadata = {
        "lease:id": lease_id,
        "lease:project_id": project,
        "lease:exclusive": str(exclusive).lower(),
        "lease:from": "0",
        "lease:vacated_from": "0",
        "lease:until": str(2**33),
    }
    path = f"/os-aggregates/{aggregate}/action"
    admin.compute("POST", path, {"set_metadata": {"metadata": metadata}})
    admin.compute("POST", path, {"add_host": {"host": host}})
    flavor = str(uuid.uuid4())
    body: dict[str, Any] = {"flavor": {"id": flavor, "name": flavor, "vcpus": 1, "ram": 64, "disk": 0}}
    admin.compute("POST", "/flavors", body)
    admin.compute("POST", f"/flavors/{flavor}/os-extra_specs", {"extra_specs": {"lease:id": lease_id}})
    yield lease_id, flavor
    admin.compute("DELETE", f"/flavors/{flavor}")
    for member in admin.compute("GET", f"/os-aggregates/{aggregate}")["aggregate"]["hosts"]:
        admin.compute("POST", path, {"remove_host": {"host": member}})
    admin.compute("DELETE", f"/os-aggregates/{aggregate}")


def _set_service(admin: CloudClient, host: str, **terms: Any) -> None:
    (found,) = admin.compute("GET", f"/os-services?binary=nova-compute&host={host}")["services"]
    admin.compute("PUT", f"/os-services/{found['id']}", terms)


def _aggregate_id(admin: CloudClient, name: str) -> int:
    found = admin.compute("GET", "/os-aggregates")["aggregates"]
    return next(int(each["id"]) for each in found if each["name"] == name)


def test_hosts_and_servers(
    lab: Lab, admin: CloudClient, observe: Callable[..., Observer], recorder: NotificationRecorder
) -> None:
    """Disabling a host, forcing it down, and deleting a lease's last server are reported within 2 s."""
    observer = observe()
    begun = time.time()
    _set_service(admin, "node1", status="disabled", disabled_reason="a disk fails")
    closed = DriverEvent(EventKind.HOST_CLOSED, host="node1", reason="a disk fails")
    observer.is_told_at_once(lambda what: what == closed, recorder.wait_for("service.update", since=begun).at)
    back = time.time()
    _set_service(admin, "node1", status="enabled")
    observer.is_told_at_once(lambda what: what == DriverEvent(EventKind.HOST_UP, host="node1"), back)
    for forced, kind in ((True, EventKind.HOST_DOWN), (False, EventKind.HOST_UP)):
        begun = time.time()
        _set_service(admin, "node2", forced_down=forced)
        observer.is_told_at_once(partial(_is_event, kind=kind, host="node2"), begun)

    with _lease(lab, admin, "node3", exclusive=False, project=_project(admin)) as (lease_id, flavor):
        servers = [admin.boot(f"s{number}", flavor, tags=[names.tag(lease_id)]) for number in range(3)]
        for server in servers:
            created = recorder.wait_for("instance.create.end", server).at
            seen = ServerChange("instance.create.end", server, lease_id, "node3", arrives=True)
            observer.is_told_at_once(partial(operator.eq, seen), created)
            admin.wait_for(server, "ACTIVE")
        admin.act(servers[0], "shelve")
        offloaded = recorder.wait_for("instance.shelve_offload.end", servers[0]).at
        seen = ServerChange("instance.shelve_offload.end", servers[0], lease_id, "node3")
        observer.is_told_at_once(lambda what: what == seen, offloaded)
        for server in servers[:2]:
            admin.delete(server)
        assert EventKind.ENDED not in {event.kind for event in observer.events()}
        admin.compute("DELETE", f"/servers/{servers[2]}")
        ended = DriverEvent(EventKind.ENDED, lease_id, reason="its servers were deleted")
        observer.is_told_at_once(lambda what: what == ended, recorder.wait_for("instance.delete.end", servers[2]).at)


def _is_event(what: Any, kind: EventKind, host: str) -> bool:
    return isinstance(what, DriverEvent) and (what.kind, what.host) == (kind, host)


def _project(client: CloudClient) -> str:
    return str(client.session.get_project_id())


def test_what_we_do_ourselves_is_no_news(
    lab: Lab, admin: CloudClient, observe: Callable[..., Observer], recorder: NotificationRecorder
) -> None:
    """Servers that the engine deletes do not end their lease, and its own changes to aggregates are not reported."""
    with _lease(lab, admin, "node3", exclusive=False, project=_project(admin)) as (lease_id, flavor):
        server = admin.boot("ours", flavor, tags=[names.tag(lease_id)])
        admin.wait_for(server, "ACTIVE")
        observer = observe()
        observer.nova.aggregates.set_metadata(
            observer.nova.aggregates.get(_aggregate_id(admin, names.aggregate(lease_id, exclusive=False))),
            {"lease:until": str(2**34)},
        )
        recorder.wait_for("aggregate.update_metadata.end")
        observer.nova.servers.delete(server)
        deleted = recorder.wait_for("instance.delete.end", server).at
        observer.is_told_at_once(
            lambda what: isinstance(what, ServerChange) and what.event_type == "instance.delete.end", deleted
        )
        # An event whose report comes later, in the same way.
        begun = time.time()
        _set_service(admin, "node1", forced_down=True)
        observer.is_told_at_once(lambda what: _is_event(what, EventKind.HOST_DOWN, "node1"), begun)
        _set_service(admin, "node1", forced_down=False)
        told = [what for _, what in observer.told]
        assert EventKind.ENDED not in {event.kind for event in observer.events()}
        assert not any(isinstance(what, AggregateChange) for what in told), told


def test_aggregates_and_strangers(lab: Lab, admin: CloudClient, observe: Callable[..., Observer]) -> None:
    """An aggregate edited by hand and a server forced onto a lease's host are reported within 2 s."""
    with _lease(lab, admin, "node3", exclusive=True, project=_project(lab.tenant())) as (lease_id, _):
        observer = observe()
        server = admin.boot("forced", lab.flavors["small"], availability_zone="nova:node3")
        admin.wait_for(server, "ACTIVE")
        begun = time.time()
        stranger = Stranger(server, lease_id, "node3", _project(admin))
        observer.is_told_at_once(lambda what: what == stranger, begun - 1)

        name = names.aggregate(lease_id, exclusive=True)
        path = f"/os-aggregates/{_aggregate_id(admin, name)}/action"
        begun = time.time()
        admin.compute("POST", path, {"add_host": {"host": "node2"}})
        observer.is_told_at_once(lambda what: _is_aggregate(what, lease_id, {"node2", "node3"}), begun)
        begun = time.time()
        admin.compute("POST", path, {"remove_host": {"host": "node3"}})
        observer.is_told_at_once(lambda what: _is_aggregate(what, lease_id, {"node2"}), begun)
        begun = time.time()
        admin.compute("POST", path, {"remove_host": {"host": "node2"}})
        admin.compute("POST", path, {"set_metadata": {"metadata": {"lease:id": None}}})
        observer.is_told_at_once(
            lambda what: isinstance(what, AggregateChange) and "lease:id" not in what.metadata, begun
        )
        admin.delete(server)
        assert [what for _, what in observer.told if isinstance(what, Stranger)] == [stranger]


def _is_aggregate(what: Any, lease_id: str, hosts: set[str]) -> bool:
    return isinstance(what, AggregateChange) and (what.lease_id, set(what.hosts)) == (lease_id, hosts)


@pytest.mark.parametrize("topics", [None, ""])
def test_what_nobody_says(lab: Lab, admin: CloudClient, observe: Callable[..., Observer], topics: str | None) -> None:
    """Polling finds traits of a host and, without a listener, servers without a lease and edited aggregates."""
    with _lease(lab, admin, "node3", exclusive=True, project=_project(lab.tenant())) as (lease_id, _):
        observer = observe(inspect_interval=0.5, topics=topics)
        providers = admin.placement("GET", "/resource_providers?name=node1")["resource_providers"]
        path = f"/resource_providers/{providers[0]['uuid']}/traits"
        trait = f"CUSTOM_{uuid.uuid4().hex.upper()}"
        admin.placement("PUT", f"/traits/{trait}")
        before = admin.placement("GET", path)
        observer.told.clear()
        admin.placement("PUT", path, {**before, "traits": [*before["traits"], trait]})
        assert wait_until(lambda: observer.hosts_told() == {"node1"}, _LIMIT), observer.told
        observer.told.clear()
        # This changes the host's usage, but nothing that affects the planning of leases.
        server = admin.boot("forced", lab.flavors["small"], availability_zone="nova:node3")
        stranger = Stranger(server, lease_id, "node3", _project(admin))
        assert wait_until(lambda: stranger in [what for _, what in list(observer.told)], _LIMIT), observer.told
        admin.wait_for(server, "ACTIVE")
        name = names.aggregate(lease_id, exclusive=True)
        action = f"/os-aggregates/{_aggregate_id(admin, name)}/action"
        admin.compute("POST", action, {"add_host": {"host": "node2"}})
        assert wait_until(
            lambda: any(_is_aggregate(what, lease_id, {"node2", "node3"}) for _, what in list(observer.told)), _LIMIT
        ), observer.told
        # Until the first change of a host, there is nothing to compare it with.
        assert wait_until(lambda: observer.hosts_told() == {"node2", "node3"}, _LIMIT), observer.told
        observer.told.clear()
        admin.delete(server)
        now = admin.placement("GET", path)
        admin.placement("PUT", path, {**now, "traits": before["traits"]})
        assert wait_until(lambda: bool(observer.hosts_told()), _LIMIT), observer.told
        assert observer.hosts_told() == {"node1"}
        admin.placement("DELETE", f"/traits/{trait}")
