"""What the service depends on is killed during a preemption; in the end everything is as if nothing had happened."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.functional.lab.service import LIMIT, PREPARATION, QUARTER, Document, Service, in_seconds, insist
from tests.servers.base import wait_until
from tests.servers.databases import execute
from tests.servers.fixtures import LAB_HOSTS

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_PRODUCTION = Path(__file__).parents[3] / "doc" / "source" / "admin" / "production.rst"

#: Name for our engine, beside the servers of the lab.
_ENGINE = "engine"

#: Limit in seconds; a test that takes seven minutes would end the whole test run.
_LONG = 150.0

#: Seconds that the best-effort lease runs; it is not done when the reservation starts.
_DURATION = 45


@pytest.fixture
def leases(service: Service) -> Iterator[list[Document]]:
    """Leases that are deleted after the test; the last test checks what they leave."""
    made: list[Document] = []
    yield made
    for lease in made:
        service.is_cancelled(lease)
    assert wait_until(lambda: not service.servers(service.ada) and not service.servers(service.bob), LIMIT)


@dataclass(frozen=True)
class _Preempted:
    """A best-effort lease that makes room for a reservation.

    :ivar servers: ids of the servers of the best-effort lease
    """

    queued: Document
    reserved: Document
    servers: frozenset[str]


@pytest.fixture
def preempted(service: Service, leases: list[Document]) -> _Preempted:
    """Both leases, while the servers are being shelved."""
    nodes = [{"count": 4 * len(LAB_HOSTS), "resources": QUARTER}]
    servers = [{**service.template(), "count": 4}]
    queued = service.lease(service.ada, kind="best-effort", duration=_DURATION, nodes=nodes, servers=servers)
    leases.append(queued)
    service.becomes(queued, "active")
    before = frozenset(each["id"] for each in service.servers(service.ada))
    assert len(before) == 4
    (start_date, _), (end_date, _) = in_seconds(PREPARATION + 12), in_seconds(PREPARATION + 92)
    reserved = service.lease(
        service.bob,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{"count": 4, "exclusive": True, "resources": QUARTER}],
        servers=[{**service.template(), "count": 4}],
    )
    leases.append(reserved)
    assert wait_until(lambda: _is_any(service, "shelv"), LIMIT), service.said()
    return _Preempted(queued, reserved, before)


@pytest.mark.parametrize(
    "victims",
    [
        (_ENGINE,),
        ("nova-api",),
        ("mariadb",),
        ("rabbitmq",),
        ("nova-api", "rabbitmq", "mariadb", _ENGINE),
    ],
    ids="+".join,
)
def test_killed_in_a_preemption(service: Service, preempted: _Preempted, victims: Sequence[str]) -> None:
    """A best-effort lease makes room for a reservation and is done in the end, whatever is killed meanwhile.

    Nothing can be done while a server is away, so the reservation may start late.
    """
    _kill(service, victims)
    _start_again(service, victims)
    service.becomes(preempted.reserved, "active", _LONG)
    mine = insist(lambda: service.servers(service.bob))
    assert [each["status"] for each in mine] == ["ACTIVE"] * 4
    assert [each["status"] for each in service.servers(service.ada)] == ["SHELVED_OFFLOADED"] * 4
    service.becomes(preempted.reserved, "done", _LONG)
    _goes_on_to_its_end(service, preempted)


def test_the_database_is_away_while_it_is_resumed(service: Service, preempted: _Preempted) -> None:
    """The database is away for longer than the lease has left: its work is saved, and waits until it can resume.

    If Nova has lost its task on a server, an operator has to intervene.
    """
    service.becomes(preempted.reserved, "active", _LONG)
    service.becomes(preempted.reserved, "done", _LONG)
    assert wait_until(lambda: _is_any(service, "unshelv"), LIMIT), service.said()
    _kill(service, ("mariadb",))
    time.sleep(_DURATION)
    _start_again(service, ("mariadb",))

    def goes_on() -> bool:
        found = insist(lambda: service.show(preempted.queued))
        return found["state"] == "active" or "Nova has lost the command" in found["reason"]

    assert wait_until(goes_on, _LONG), service.said()
    if service.show(preempted.queued)["state"] != "active":
        # It holds no host that other leases could use, and none of its servers are lost.
        service.becomes(preempted.queued, "suspended-pending", _LONG)
        assert {each["id"] for each in service.servers(service.ada)} == preempted.servers
        _mend_servers(service)
    _goes_on_to_its_end(service, preempted)


def _mend_servers(service: Service) -> None:
    """Do as the documentation says with those servers of the best-effort lease whose task Nova has lost."""
    (statement,) = re.findall(r"^ *(UPDATE instances SET .*?;)$", _PRODUCTION.read_text(), re.MULTILINE | re.DOTALL)
    for each in service.servers(service.ada):
        execute(service.lab.mariadb.database_url("nova"), statement.replace("SERVER", each["id"]))


def _goes_on_to_its_end(service: Service, preempted: _Preempted) -> None:
    """Check that the best-effort lease continues with its servers and runs for as long as it had left."""
    service.becomes(preempted.queued, "active", _LONG)
    # The servers are the same, so no work was lost.
    mine = insist(lambda: service.servers(service.ada))
    assert {each["id"] for each in mine} == preempted.servers
    assert {each["status"] for each in mine} == {"ACTIVE"}
    service.becomes(preempted.queued, "done", _LONG)
    assert _DURATION - 1 <= service.show(preempted.queued)["accumulated"] <= _DURATION + 1
    states = [entry["to"] for entry in service.history(preempted.queued)]
    # It was queued, ran twice, and did not start a third time.
    assert states.count("active") == 2, states


def _is_any(service: Service, task: str) -> bool:
    """Return whether a task with such a name is in progress on a server of the best-effort lease."""
    found = service.servers(service.ada)
    return any((each["OS-EXT-STS:task_state"] or "").startswith(task) for each in found)


def _kill(service: Service, victims: Sequence[str]) -> None:
    for name in victims:
        if name == _ENGINE:
            service.end_engine()
        else:
            service.lab.servers[name].kill()


def _start_again(service: Service, victims: Sequence[str]) -> None:
    if _ENGINE in victims:
        service.start_engine()
    service.lab.ensure_running()


def test_nothing_is_left(service: Service) -> None:
    """Nothing is left in Nova, Placement and Keystone when all leases are over."""
    service.nothing_left()
