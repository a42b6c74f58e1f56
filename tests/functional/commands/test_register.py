"""``lease-scheduler-manage register`` on the database of a site (prediction A4)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from lease_scheduler.cmd import manage
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import Transition, UsageRecord
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.store import SqlStore
from tests import last_fit
from tests.functional.commands.programs import write_configuration

#: 2026-11-25T12:00:00Z, in seconds since the epoch.
_NOON = 1_795_608_000

_SPAN = ("--start", "2026-11-25T12:00:00Z", "--end", "2026-11-25T12:10:00+00:00")

_BOOT, _SHUTDOWN = 4, 2


def _lease(number: int, submitted: int, duration: int) -> Lease:
    nodes = (NodeSet(1, Resources({"VCPU": 3, HOST_SHARE: 1})),)
    request = LeaseRequest(str(number), LeaseKind.BEST_EFFORT, nodes, submitted, duration, user="project")
    started = submitted + _BOOT
    over = started + duration
    return Lease(request, number, LeaseState.DONE, duration, started, over + _SHUTDOWN)


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., int]:
    """The command on a site that has run a lease on its first host, and two more on both hosts.

    Returns the exit status.
    """
    folder = tmp_path_factory.mktemp("site")
    url = f"sqlite:///{folder}/test.sqlite"
    configuration = write_configuration(folder, url)
    database = open_database(url)
    migrate.upgrade(database)
    store = SqlStore(database)
    store.take_over("engine", _NOON)
    store.load()
    hosts: dict[int, HostRecord | None] = {
        number: HostRecord(number, f"compute-{number}", 4, 1024, 0, 5, {"VCPU": 4}) for number in (1, 2)
    }
    store.commit(StoreChanges(_NOON, hosts=hosts))
    store.load()
    changes = StoreChanges(_NOON + 500)
    leases = ((_lease(1, _NOON, 60), 1), (_lease(2, _NOON + 200, 100), 1), (_lease(3, _NOON + 201, 50), 2))
    for lease, host in leases:
        name, begun = lease.lease_id, lease.request.submitted
        changes.leases[name] = lease
        changes.documents[name] = LeaseDocument(name, "a lease", "project", "user", begun)
        over = begun + _BOOT + lease.request.duration
        for phase, start, end in (("run", begun + _BOOT, over), ("shutdown", over, over + _SHUTDOWN)):
            changes.usage.append(
                UsageRecord(name, "project", "best-effort", phase, start, end, 1, {"VCPU": 3}, (host,))
            )
        changes.transitions += [
            Transition(name, begun, "scheduled", "ready", ""),
            Transition(name, begun + _BOOT, "ready", "active", ""),
        ]
    store.commit(changes)
    database.dispose()

    def call(*words: str) -> int:
        try:
            manage.main(["--config-file", str(configuration), "register", *words])
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0

    return call


def test_a_table_or_json(register: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert register(*_SPAN, "--runs", "2") == 0
    said = capsys.readouterr().out
    assert "3 leases, 2 simulations; measured times: 3 of start, 3 of stop" in said
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines() if line.startswith("|")]
    # (60 + 2 + 100 + 2) x 3 / (4 x 600), and (50 + 2) x 3 / (4 x 600).
    assert rows[-2:] == [
        ["compute-1", "0.2050", "0.2050", "0.0000", "0.0000"],
        ["compute-2", "0.0650", "0.0650", "0.0000", "0.0000"],
    ]
    assert "largest difference 0.0000, at most 0.02: the simulation does what the site did" in said

    assert register(*_SPAN, "--runs", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["agrees"], found["leases"], found["measured"]) == (
        True,
        3,
        {"start": 3, "suspend": 0, "resume": 0, "stop": 3},
    )


def test_a_difference_is_the_exit_status(
    register: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    last_fit.inject(monkeypatch)
    assert register(*_SPAN, "--runs", "1") == 1
    assert "largest difference 0.1400, at most 0.02: they differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--start", "noon"), "--start: must be a date such as"),
        (("--start", "2026-11-25T12:00:00Z", "--end", "2026-11-25T11:00:00Z"), "--start: must be before --end"),
        (("--start", "2026-11-25T13:00:00Z", "--end", "9999-11-25T11:00:00Z"), "--start: must be before --end"),
        (("--start", "2026-11-25T12:09:00Z", "--end", "2026-11-25T12:10:00Z"), "--start: no lease was submitted"),
        (("--start", "2026-11-25T12:00:30Z", "--end", "2026-11-25T12:10:00Z"), "--start: leases that were submitted"),
        ((*_SPAN, "--runs", "0"), "--runs: must be at least 1, not 0"),
    ],
)
def test_bad_requests_are_told_in_one_line(
    register: Callable[..., int], capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert register(*words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line


def test_tables_of_another_version_are_told(
    register: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "newest", lambda: "a later one")
    assert register(*_SPAN) == 2
    assert "database.connection: has tables of another version" in capsys.readouterr().err
