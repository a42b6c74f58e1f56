"""A real Placement on MariaDB, without the rest of OpenStack, and claims that race with each other."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from tests.servers.base import wait_until
from tests.servers.fixtures import running
from tests.servers.mariadb import MariaDB
from tests.servers.openstack.placement import Placement as PlacementServer

#: Parameters that an operator may add to the URL of Placement's database.
READ_COMMITTED = "&init_command=SET+SESSION+TRANSACTION+ISOLATION+LEVEL+READ+COMMITTED"

MICROVERSION = "1.38"

_LIMIT_SECONDS = 30.0


_DONE = 204


def consumer_id(number: int) -> str:
    """Return a consumer id for each number below 16, all as far apart as possible."""
    return f"{number:x}8888888{str(uuid.uuid4())[8:]}"


class Site:
    """Placement with a database.

    :ivar url: its address
    :ivar adapter: sends requests as an administrator
    """

    def __init__(self, server: PlacementServer, database_url: str) -> None:
        self._engine = sqlalchemy.create_engine(database_url, isolation_level="READ COMMITTED")
        self.url = server.url
        self.adapter = Adapter(Session(auth=Token(server.url, "admin")), service_type="placement")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer; refusals are raised."""
        answer = self.adapter.request(path, method, json=body, microversion=MICROVERSION)
        return answer.json() if answer.content else None

    def prepare(self) -> None:
        """Have claims of new consumers lock different gaps of the table, so that they do not end in a deadlock.

        After a deadlock MariaDB restarts a transaction, which hides what happens without a deadlock.
        """
        other = self.make_host(16)
        for number in range(1, 16):
            assert self.claim(other, 1, consumer=consumer_id(number)) == _DONE

    def make_host(self, memory_mb: int, name: str = "") -> str:
        """Create a provider with this much memory and return its id."""
        provider_id = str(uuid.uuid4())
        new = {"uuid": provider_id, "name": name or f"host-{provider_id}"}
        self.ask("POST", "/resource_providers", new)
        self.set_memory(provider_id, memory_mb)
        return provider_id

    def make_child(self, parent_id: str, amounts: Mapping[str, int], trait: str | None = None) -> str:
        """Create a provider below another one and return its id."""
        provider_id = str(uuid.uuid4())
        new = {"uuid": provider_id, "name": f"child-{provider_id}", "parent_provider_uuid": parent_id}
        self.ask("POST", "/resource_providers", new)
        inventories = {name: {"total": total, "max_unit": total} for name, total in amounts.items()}
        path, body = f"/resource_providers/{provider_id}", {"resource_provider_generation": 0}
        self.ask("PUT", f"{path}/inventories", {**body, "inventories": inventories})
        if trait is not None:
            self.ask("PUT", f"/traits/{trait}")
            generation = self.ask("GET", path)["generation"]
            self.ask("PUT", f"{path}/traits", {"resource_provider_generation": generation, "traits": [trait]})
        return provider_id

    def set_memory(self, provider_id: str, memory_mb: int) -> None:
        """Set the memory of a host."""
        generation = self.ask("GET", f"/resource_providers/{provider_id}")["generation"]
        inventories = {"MEMORY_MB": {"total": memory_mb}}
        body = {"resource_provider_generation": generation, "inventories": inventories}
        self.ask("PUT", f"/resource_providers/{provider_id}/inventories", body)

    def claim(self, provider_id: str, amount: int, kind: str = "MEMORY_MB", *, consumer: str) -> int:
        """Claim resources for a new consumer, as Nova does for a server, and return the status of the answer."""
        return self.claim_all({provider_id: {kind: amount}}, consumer=consumer)

    def claim_all(self, amounts: Mapping[str, Mapping[str, int]], *, consumer: str) -> int:
        """Claim resources of several providers at once, as ``claim`` does."""
        body = {
            "allocations": {provider_id: {"resources": of_provider} for provider_id, of_provider in amounts.items()},
            "project_id": "p",
            "user_id": "u",
            "consumer_generation": None,
            "consumer_type": "INSTANCE",
        }
        answer = self.adapter.put(f"/allocations/{consumer}", json=body, microversion=MICROVERSION, raise_exc=False)
        return int(answer.status_code)

    def used(self, provider_id: str, kind: str = "MEMORY_MB") -> int:
        """Return how much of a host is in use."""
        return int(self.ask("GET", f"/resource_providers/{provider_id}/usages")["usages"][kind])

    def meet(self, provider_id: str, *claims: Callable[[], Any]) -> list[Future[Any]]:
        """Have claims race: all have checked what is free before the first of them is written. Return their answers."""
        with ThreadPoolExecutor(len(claims)) as pool, self._holding_back(provider_id) as let_go:
            answers = [pool.submit(claim) for claim in claims]
            assert wait_until(lambda: self._waiting() == len(claims), _LIMIT_SECONDS), "the claims did not meet"
            let_go()
        return answers

    @contextmanager
    def _holding_back(self, provider_id: str) -> Iterator[Callable[[], None]]:
        """Lock a provider, so that no claim can be written until the yielded function is called."""
        with self._engine.connect() as connection:
            row = sqlalchemy.text("SELECT id FROM resource_providers WHERE uuid = :id FOR UPDATE")
            connection.execute(row, {"id": provider_id})
            yield connection.rollback

    def _waiting(self) -> int:
        """Return how many connections have checked what is free and wait to write their claim."""
        # Not information_schema.innodb_trx: its content is refreshed only when it has not been read for a while.
        text = (
            "SELECT count(*) FROM information_schema.processlist "
            "WHERE db = database() AND (info LIKE 'UPDATE resource_providers%' OR info LIKE 'INSERT INTO allocations%')"
        )
        with self._engine.connect() as connection:
            return int(connection.execute(sqlalchemy.text(text)).scalar_one())

    def close(self) -> None:
        """Close the connections to the database."""
        self._engine.dispose()


@contextmanager
def running_site(mariadb: MariaDB, python: Path, parameters: str = "", retries: int | None = None) -> Iterator[Site]:
    """Run a site.

    :param python: interpreter of the environment of OpenStack's services
    :param parameters: for the URL of the database
    :param retries: how often Placement itself retries to write a claim; None for its default
    """
    mariadb.ensure_running()
    name = f"placement_{uuid.uuid4().hex}"
    url = mariadb.create_database(name)
    with ExitStack() as stack:
        stack.callback(mariadb.drop_database, name)

        def make(folder: Path) -> PlacementServer:
            server = PlacementServer(folder, python, url + parameters, None, retries)
            server.make_tables()
            return server

        server = stack.enter_context(running(make))
        site = Site(server, url)
        stack.callback(site.close)
        site.prepare()
        yield site
