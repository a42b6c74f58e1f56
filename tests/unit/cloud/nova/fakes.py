"""Nova and Placement as far as the watcher and the inspectors use them; a test sets what they list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.api.hints import Hint
from lease_scheduler.cloud.nova.api.names import slots_provider_id


def service(host: str, state: str = "up", status: str = "enabled", reason: str | None = None) -> SimpleNamespace:
    """Return a compute service."""
    return SimpleNamespace(host=host, state=state, status=status, disabled_reason=reason)


def server(
    server_id: str,
    host: str | None,
    project_id: str = "biology",
    lease_id: str | None = None,
    tags: Collection[str] = (),
    status: str = "ACTIVE",
) -> SimpleNamespace:
    """Return a server; if a lease is named, with its flavor."""
    extra_specs = {} if lease_id is None else {"lease:id": lease_id}
    found = SimpleNamespace(
        id=server_id, tenant_id=project_id, tags=list(tags), status=status, flavor={"extra_specs": extra_specs}
    )
    setattr(found, "OS-EXT-SRV-ATTR:host", host)
    return found


def aggregate(number: int, name: str, hosts: Collection[str], **metadata: str) -> SimpleNamespace:
    """Return a host aggregate; double underscores in metadata names become colons."""
    said = {key.replace("__", ":"): value for key, value in metadata.items()}
    return SimpleNamespace(id=number, name=name, hosts=list(hosts), metadata=said)


class FakeNova:
    """Lists of services, servers and aggregates; each of them can be made to fail.

    :ivar updated: when a server was last changed, by id; the beginning of time if it is missing
    :ivar asked: every request: what was listed, and its filters
    """

    def __init__(self) -> None:
        self.present: list[SimpleNamespace] = []
        self.up: list[SimpleNamespace] = []
        self.made: list[SimpleNamespace] = []
        self.deleted: list[SimpleNamespace] = []
        self.updated: dict[str, datetime] = {}
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.broken: set[str] = set()
        self.services = SimpleNamespace(list=self._services)
        self.servers = SimpleNamespace(list=self._servers, resource_class=lambda manager, each, loaded: each)
        self.client = SimpleNamespace(get=self._get)
        self.aggregates = SimpleNamespace(list=self._aggregates, get=self._aggregate)

    def count(self, what: str) -> int:
        """Return how often something was requested."""
        return sum(name == what for name, _ in self.asked)

    @contextmanager
    def failing(self, *what: str) -> Iterator[None]:
        """Have some kinds of request fail while the block runs."""
        self.broken |= set(what)
        yield
        self.broken -= set(what)

    def _ask(self, what: str, query: Mapping[str, Any]) -> None:
        self.asked.append((what, query))
        if what in self.broken:
            raise ConnectionError(f"no {what}")

    def _services(self, binary: str) -> list[SimpleNamespace]:
        assert binary == "nova-compute"
        self._ask("services", {})
        return list(self.up)

    def _get(self, url: str) -> tuple[None, dict[str, Any]]:
        """Return the servers that a URL with filters lists."""
        parts = urlsplit(url)
        assert parts.path == "/servers/detail"
        return None, {"servers": self._servers(dict(parse_qsl(parts.query)))}

    def _servers(self, search_opts: Mapping[str, Any], limit: int = -1) -> list[SimpleNamespace]:
        assert int(search_opts["all_tenants"]) == 1
        self._ask("servers", search_opts)
        found = self.deleted if search_opts.get("deleted") else self.present
        if "uuid" in search_opts:
            found = [each for each in found if each.id == search_opts["uuid"]]
        if "tags" in search_opts:
            found = [each for each in found if search_opts["tags"] in each.tags]
        if "host" in search_opts:
            found = [each for each in found if getattr(each, "OS-EXT-SRV-ATTR:host") == search_opts["host"]]
        if "changes-since" in search_opts:
            since = datetime.fromisoformat(search_opts["changes-since"])
            oldest = datetime.fromtimestamp(0, UTC)
            found = [each for each in found if self.updated.get(each.id, oldest) >= since]
        return list(found)

    def _aggregates(self) -> list[SimpleNamespace]:
        self._ask("aggregates", {})
        return list(self.made)

    def _aggregate(self, number: int) -> SimpleNamespace:
        self._ask("aggregate", {"id": number})
        for each in self.made:
            if each.id == number:
                return each
        raise NotFound(404)


class FakePlacement:
    """Resource providers of hosts, and a record of the requests; also serves as the adapter."""

    def __init__(self, *names: str) -> None:
        self.generations = dict.fromkeys(names, 1)
        self.totals = dict.fromkeys(names, 8)
        self.held_traits: dict[str, frozenset[str]] = {name: frozenset({"HW_CPU_X86_VMX"}) for name in names}
        self.read: list[str] = []
        self.is_broken = False

    def add(self, name: str) -> None:
        """Add a provider; ``a/gpu0`` is one below host ``a``."""
        self.generations[name], self.totals[name] = 1, 8
        self.held_traits[name] = frozenset({"CUSTOM_A100"})

    def remove(self, name: str) -> None:
        """Remove a provider."""
        del self.generations[name]

    def get(self, path: str, microversion: str) -> SimpleNamespace:
        assert path == "/resource_providers"
        found = [
            {
                "name": name,
                "uuid": f"id of {name}",
                "generation": generation,
                "parent_provider_uuid": self._parent(name),
                "root_provider_uuid": self._parent(name) or f"id of {name}",
            }
            for name, generation in self.generations.items()
        ]
        # The slots of leases, whose name is irrelevant.
        child = {
            "name": "a",
            "uuid": slots_provider_id("b"),
            "generation": len(self.read),
            "parent_provider_uuid": "id of b",
            "root_provider_uuid": "id of b",
        }
        return SimpleNamespace(json=lambda: {"resource_providers": [*found, child]})

    @staticmethod
    def _parent(name: str) -> str | None:
        """Return the id of the host of a provider, whose name has both: ``a/gpu0``."""
        host, _, nested = name.partition("/")
        return f"id of {host}" if nested else None

    def inventories(self, provider_id: str) -> Mapping[str, Mapping[str, Any]]:
        self.read.append(provider_id)
        if self.is_broken:
            raise ConnectionError("no inventories")
        return {"VCPU": {"total": self.totals[provider_id.removeprefix("id of ")], "reserved": 0}}

    def traits(self, provider_id: str) -> frozenset[str]:
        return self.held_traits[provider_id.removeprefix("id of ")]


class FakeListener:
    """Delivers the notifications that a test sends."""

    def __init__(self) -> None:
        self.say: Callable[[Hint], None] | None = None

    def start(self, on_hint: Callable[[Hint], None]) -> None:
        self.say = on_hint

    def stop(self) -> None:
        self.say = None
