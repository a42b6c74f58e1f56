"""``lease-scheduler-manage import-blazar`` on the database of a real Blazar."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.pool import NullPool
from tooz import coordination

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.cloud.orders import Order
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd import manage
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.blazar import lease_status
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.store.sql import migrate, schema
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.commands import blazar_site
from tests.functional.commands.blazar_site import ACTIVE, DAY, FLAVOR, HOUR, NOW, PENDING, id_of
from tests.functional.commands.programs import Ended, run, write_configuration
from tests.servers.base import MissingServerError, wait_until
from tests.servers.fixtures import missing
from tests.servers.mariadb import MariaDB
from tests.site_engine import site_policies

Import = Callable[..., Ended]
Lines = dict[str, list[str]]

_EPOCH = datetime(1970, 1, 1)  # Blazar's dates have no time zone.

#: Lease -> start, end, and how often it has each host or address.
Holdings = dict[str, tuple[int, int, Counter[str]]]

_LIMIT_SECONDS = 30.0

#: What live leases have according to Blazar's own tables.
_ALLOCATIONS = """
SELECT leases.name, leases.start_date, leases.end_date, {name} AS unit
FROM leases JOIN reservations ON reservations.lease_id = leases.id
JOIN {allocations} AS held ON held.reservation_id = reservations.id
JOIN {units} AS units ON units.id = held.{key}
WHERE leases.status IN ('PENDING', 'ACTIVE')
"""


# -- Blazar ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example(
    request: pytest.FixtureRequest, mariadb_server: MariaDB, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """URL of a Blazar database."""
    assert request.config.cache is not None
    try:
        python = blazar_site.environment(request.config.cache.mkdir("blazar"))
    except MissingServerError as error:
        missing(str(error))
    name = f"blazar_{uuid4().hex}"
    url = mariadb_server.create_database(name)
    blazar_site.fill(python, url, blazar_site.example(), tmp_path_factory.mktemp("blazar"))
    yield url
    mariadb_server.drop_database(name)


@pytest.fixture
def changed(example: str, mariadb_url: str) -> Callable[..., str]:
    """Makes a copy of it, changes that with statements, and returns its URL."""

    def change(*statements: str) -> str:
        source = sqlalchemy.make_url(example).database
        engine = create_engine(mariadb_url, poolclass=NullPool)
        with engine.begin() as connection:
            for (table,) in connection.execute(text(f"SHOW TABLES FROM `{source}`")).all():
                # Without foreign keys to other tables.
                connection.execute(text(f"CREATE TABLE `{table}` LIKE `{source}`.`{table}`"))
                connection.execute(text(f"INSERT INTO `{table}` SELECT * FROM `{source}`.`{table}`"))
            for statement in statements:
                connection.exec_driver_sql(statement)
        return mariadb_url

    return change


def _held_in_blazar(url: str) -> Holdings:
    queries = (
        _ALLOCATIONS.format(
            name="hypervisor_hostname",
            allocations="computehost_allocations",
            units="computehosts",
            key="compute_host_id",
        ),
        _ALLOCATIONS.format(
            name="floating_ip_address", allocations="floatingip_allocations", units="floatingips", key="floatingip_id"
        ),
    )
    found: Holdings = {}
    with create_engine(url, poolclass=NullPool).connect() as connection:
        # Leases that Blazar had not started when their end passed are left out.
        rows = [row for query in queries for row in connection.execute(text(query)).mappings()]
    for row in rows:
        start, end = (int((row[key] - _EPOCH).total_seconds()) for key in ("start_date", "end_date"))
        if row["name"] != "missed":
            found.setdefault(row["name"], (start, end, Counter()))[2][row["unit"]] += 1
    return found


# -- ours ------------------------------------------------------------------------------------------------------


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Engine]:
    database = open_database(f"sqlite:///{tmp_path}/ours.sqlite")
    migrate.upgrade(database)
    yield database
    database.dispose()


@pytest.fixture
def take(tmp_path: Path, ours: Engine) -> Import:
    """Runs the command at the present instant of these tests."""
    return _import_into(ours, tmp_path)


def _import_into(database: Engine, folder: Path) -> Import:
    url = database.url.render_as_string(hide_password=False)
    configuration = write_configuration(folder, url, lines=f"clock_start = {NOW}\n")

    def command(blazar: str, *words: str, program: bool = False) -> Ended:
        asked = ["import-blazar", "--connection", blazar, *words, "--config-file", str(configuration)]
        if program:
            return run("manage", *asked, folder=folder)
        # Starting a process for each run would take most of the time.
        output, errors, status = StringIO(), StringIO(), 0
        with redirect_stdout(output), redirect_stderr(errors):
            try:
                manage.main(asked)
            except SystemExit as error:
                assert isinstance(error.code, int)
                status = error.code
        return Ended(status, output.getvalue(), errors.getvalue())

    return command


@pytest.fixture
def make_engine(ours: Engine) -> Iterator[Callable[..., SiteEngine]]:
    """Builds an engine from the database."""
    made: list[SiteEngine] = []

    def make(speed: float = 1.0) -> SiteEngine:
        clock = AcceleratedClock(NOW, speed)
        cloud = SimulatedCloud(":memory:", clock)
        capacity = {"VCPU": 32, "MEMORY_MB": 16384, "DISK_GB": 200, HOST_SHARE: WHOLE_HOST}
        addresses = {f"203.0.113.{last}": {FLOATING_IP: 1} for last in (10, 11, 12)}
        units = {**{f"node{number}": capacity for number in (1, 2, 3, 10)}, **addresses}
        cloud.add_hypervisors(Hypervisor(name, 8, 16384, 200, offers) for name, offers in units.items())
        store = SqlStore(ours)
        store.take_over("engine", clock.now())
        plan = SiteTransactions(store, cloud, clock, site_policies(), ServiceOptions(workers=2), lambda: None)
        made.append(SiteEngine(plan))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def _held_here(site: SiteTransactions) -> Holdings:
    hosts = site.engine.site.hosts
    return {
        site.work.documents[lease.lease_id].name: (
            held.start,
            held.end,
            Counter(hosts[number].name for number in held.assignment),
        )
        for lease in site.engine.live_leases()
        for held in lease.holdings
        if held.assignment
    }


def _lines(ended: Ended) -> Lines:
    """Return the lines of the command's output by their first word."""
    found: Lines = {}
    for line in ended.output.splitlines():
        title, _, rest = line.partition(": ")
        found.setdefault(title, []).append(rest)
    return found


def _rows(database: Engine) -> dict[str, list[Any]]:
    """Return everything in our tables except which engine writes."""
    with database.connect() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(table.select())))
            for table in schema.METADATA.sorted_tables
            if table is not schema.SITES
        }


def _view(database: Engine, name: str) -> dict[str, Any]:
    view = SqlReader(database).lease(id_of(name))
    assert view is not None
    return view


# -- what is imported ------------------------------------------------------------------------------------------


def test_an_engine_holds_what_blazar_held(
    take: Import, example: str, ours: Engine, make_engine: Callable[..., SiteEngine]
) -> None:
    ended = take(example, program=True)
    assert (ended.status, ended.errors) == (0, "")
    told = _lines(ended)
    assert told["hosts"] == ["4 new, 0 here already"]
    assert told["floating IPs"] == ["3 new, 0 here already"]
    assert told["leases"] == ["7 new (2 running, 0 over), 0 here already"]
    expected = _held_in_blazar(example)
    # The plan treats instances that share a host as one node of twice the size.
    expected["together"][2]["node1"] = 1
    site = make_engine().plan
    assert _held_here(site) == expected
    assert {name: times[:2] for name, times in expected.items()} == {
        name: (NOW + start, NOW + end) for name, (start, end) in (PENDING | ACTIVE).items() if name != "empty"
    }
    assert site.parts[None].planner.plan.availability.within_capacity()
    (pair,) = (lease for lease in site.engine.live_leases() if lease.lease_id == id_of("together"))
    assert dict(pair.request.nodes[0].resources) == {"VCPU": 4, "MEMORY_MB": 4096, "DISK_GB": 20, HOST_SHARE: 2}
    with_traits = site.work.leases[id_of("flavor")].request.nodes[0]
    assert dict(with_traits.resources) == {"VCPU": 2, "MEMORY_MB": 2048, "DISK_GB": 25, HOST_SHARE: 1}
    assert with_traits.required_traits == {"HW_CPU_X86_AVX2"}


def test_what_is_left_out_is_told(take: Import, example: str) -> None:
    told = _lines(take(example))
    reasons = {line.partition(" (")[2].partition("): ")[0]: line.partition("): ")[2] for line in told["left out"]}
    assert reasons == {
        "failed": "has failed in Blazar (ERROR)",
        "missed": "its time was over at 2030-03-17 16:46:40 UTC, before Blazar began it",
        "vlan": "is of the type network, which is not known here; no host or address is held for it",
        "nodenode-x": "its id is not a number that can be stored",
    }
    (out,) = told["taken over with a difference"]
    assert out.startswith("host 10 (node10): is not reservable in Blazar; it is out of service")


def test_clients_see_what_they_saw(take: Import, example: str, ours: Engine) -> None:
    assert take(example).status == 0
    reader = SqlReader(ours)
    hosts = {host["id"]: host for host in reader.hosts()}
    assert {host_id: (host["name"], host["out_until"] is None) for host_id, host in hosts.items()} == {
        "1": ("node1", True),
        "2": ("node2", True),
        "3": ("node3", True),
        "10": ("node10", False),
    }
    assert hosts["1"]["properties"] == {"gpu": "yes", "rack": "a"}
    assert hosts["1"]["capacity"] == {"VCPU": 32, "MEMORY_MB": 15872, "DISK_GB": 200}
    assert (hosts["1"]["vcpus"], hosts["1"]["service_name"], hosts["1"]["trust_id"]) == (8, "node1", "trust of 1")
    assert [each["private"] for each in reader.host_properties()] == [False, True]
    assert {each["id"] for each in reader.floatingips()} == {id_of(f"address {last}") for last in (10, 11, 12)}
    for name, (start, end) in (PENDING | ACTIVE).items():
        view = _view(ours, name)
        assert (view["name"], view["start"], view["end"]) == (name, NOW + start, NOW + end)
        assert [view[key] for key in ("project_id", "user_id", "trust_id")] == [
            f"{what} of {name}" for what in ("project", "user", "trust")
        ]
        assert lease_status(view["state"], view["operation"]) == ("ACTIVE" if name in ACTIVE else "PENDING")
        assert (view["created_at"], view["before_end"]) == (NOW - DAY, NOW + end - HOUR)
        (notice,) = (event for event in view["events"] if event["event_type"] == "before_end_lease")
        assert notice["status"] == ("DONE" if end < HOUR else "UNDONE")
    (slots,) = _view(ours, "slots")["reservations"]
    assert (slots["id"], slots["resource_id"]) == (id_of("three slots"), id_of("terms of three slots"))
    assert (slots["resources_changed"], slots["missing_resources"]) == (True, False)
    assert (_view(ours, "slots")["degraded"], _view(ours, "hosts")["degraded"]) == (True, False)
    (hosts_asked,) = _view(ours, "hosts")["reservations"]
    assert (hosts_asked["terms"]["min"], hosts_asked["terms"]["max"]) == (1, 2)
    (two,) = _view(ours, "flavor")["reservations"]
    assert (two["terms"]["flavor_id"], json.loads(two["terms"]["resource_properties"])) == (FLAVOR["id"], FLAVOR)
    assert _view(ours, "running")["reservations"][0]["terms"]["before_end"] == "snapshot"


def test_the_engine_goes_on_where_blazar_stopped(
    take: Import, example: str, ours: Engine, make_engine: Callable[..., SiteEngine]
) -> None:
    assert take(example).status == 0
    engine = make_engine(speed=300.0)
    site = engine.plan
    for name in ACTIVE:
        # The servers of running leases exist already, whoever created them.
        _boot(site, id_of(name))
    engine.start()
    assert wait_until(lambda: _view(ours, "running")["state"] == "done", _LIMIT_SECONDS)
    assert _view(ours, "running")["ended"] >= NOW + ACTIVE["running"][1]
    soon = _view(ours, "soon")
    assert (soon["state"], soon["holdings"][0]["hosts"]) == ("active", ["3"])
    assert soon["started"] >= NOW + PENDING["soon"][0]
    assert _view(ours, "flavor")["state"] == "active"
    # If a host is not vacated in time, the lease may get another one.
    assert wait_until(lambda: _view(ours, "slots")["state"] == "active", _LIMIT_SECONDS)
    # A change through Blazar's API keeps the same hosts.
    longer = NOW + PENDING["hosts"][1] + HOUR
    Leases(site, Enforcement()).update({}, id_of("hosts"), {"end": longer})
    hosts = _view(ours, "hosts")
    assert (hosts["end"], hosts["holdings"][0]["hosts"]) == (longer, ["1"])


def _boot(site: SiteTransactions, lease_id: str) -> None:
    lease = site.work.leases[lease_id]
    assignment = lease.holdings[0].assignment
    operation = Operation(OperationKind.START, lease_id, assignment, NOW, NOW)
    names = tuple(site.engine.site.hosts[number].name for number in assignment)
    order = Order(0, lease_id, operation, names, lease.request, site.work.documents[lease_id])
    for step in ("aggregate", "boot"):
        assert site.driver.perform(order, step) is None


def test_what_is_over_comes_if_it_is_asked_for(
    take: Import, example: str, ours: Engine, make_engine: Callable[..., SiteEngine]
) -> None:
    assert _lines(take(example, "--history"))["leases"] == ["8 new (2 running, 1 over), 0 here already"]
    over = _view(ours, "over")
    assert (over["start"], over["end"], over["holdings"]) == (NOW - 3 * DAY, NOW - 2 * DAY, [])
    assert lease_status(over["state"], None) == "TERMINATED"
    assert len(make_engine().plan.engine.live_leases()) == 7


# -- once, or not at all ---------------------------------------------------------------------------------------


def test_a_dry_run_and_a_second_time_write_nothing(take: Import, example: str, ours: Engine) -> None:
    before = _rows(ours)
    dry = take(example, "--dry-run")
    assert (dry.status, _rows(ours)) == (0, before)
    assert "nothing was written" in dry.output
    first = take(example)
    assert first.output + "nothing was written\n" == dry.output
    written = _rows(ours)
    again = take(example)
    assert (again.status, _rows(ours)) == (0, written)
    told = _lines(again)
    assert told["hosts"] == ["0 new, 4 here already"]
    assert told["floating IPs"] == ["0 new, 3 here already"]
    assert told["leases"] == ["0 new (0 running, 0 over), 7 here already"]


def test_later_only_what_is_new_is_added(
    take: Import, example: str, ours: Engine, make_engine: Callable[..., SiteEngine]
) -> None:
    first = take(example, "--leave-out", id_of("slots"), "--leave-out", id_of("flavor"))
    assert _lines(first)["leases"] == ["5 new (1 running, 0 over), 0 here already"]
    # What was deleted here is not imported again.
    engine = make_engine()
    Leases(engine.plan, Enforcement()).delete({}, id_of("hosts"), "")
    engine.close()
    assert _lines(take(example))["leases"] == ["2 new (1 running, 0 over), 5 here already"]
    assert set(_held_here(make_engine().plan)) == {"running", "slots", "soon", "flavor", "together"}


def test_into_every_database(example: str, database: Engine, tmp_path: Path) -> None:
    take = _import_into(database, tmp_path)
    assert take(example).status == 0
    store = SqlStore(database)
    store.take_over("engine", NOW)
    snapshot = store.load()
    assert {document.name for document in snapshot.documents.values()} == set(PENDING | ACTIVE)
    assert [intent.lease_id for intent in snapshot.intents] == [
        lease.lease_id for lease in snapshot.leases if lease.active_since is not None
    ]
    assert "0 new" in take(example).output


_USE_HOST_3 = "UPDATE computehost_allocations SET compute_host_id = '3' WHERE reservation_id = '{}'"


@pytest.mark.parametrize(
    ("statement", "whose", "reason"),
    [
        (_USE_HOST_3.format(id_of("all of 2")), ("running", "flavor"), "has the whole host node3 and others have it"),
        (
            "UPDATE instance_reservations SET memory_mb = 7000 WHERE amount = 3",
            ("slots", "flavor"),
            "host node3 cannot hold all of them at 2030-03-17 17:56:40 UTC: 20,144 MEMORY_MB of 15,872",
        ),
        ("UPDATE leases SET status = 'UPDATING' WHERE name = 'hosts'", ("hosts",), "Blazar is changing it (UPDATING)"),
        (
            f"UPDATE reservations SET resource_type = 'network' WHERE id = '{id_of('pair')}'",
            ("together",),
            "is of the type network, which is not known here",
        ),
        ("DELETE FROM computehosts WHERE id = '2'", ("running", "slots"), "host or floating IP 2, which is not taken"),
        (
            f"DELETE FROM computehost_allocations WHERE reservation_id = '{id_of('one host')}'",
            ("hosts",),
            "has nothing left in Blazar",
        ),
        (
            "DELETE FROM computehost_trait WHERE computehost_id = '3'",
            ("flavor",),
            "its host node3 has no trait HW_CPU_X86_AVX2",
        ),
    ],
)
def test_a_promise_that_cannot_be_kept_refuses_everything(
    take: Import, changed: Callable[..., str], ours: Engine, statement: str, whose: tuple[str, ...], reason: str
) -> None:
    blazar = changed(statement)
    before = _rows(ours)
    ended = take(blazar)
    (line,) = ended.errors.splitlines()
    assert (ended.status, "--leave-out: nothing was written" in line) == (2, True)
    assert _rows(ours) == before
    refused = _lines(ended)["cannot be taken over"]
    assert all(reason in each for each in refused)
    assert all(any(id_of(name) in each for each in refused) for name in whose)
    left_out = [word for name in whose for word in ("--leave-out", id_of(name))]
    assert take(blazar, *left_out).status == 0
    assert {name for name in PENDING | ACTIVE if SqlReader(ours).lease(id_of(name)) is None} == set(whose)


def test_a_host_that_is_out_stays_promised(take: Import, changed: Callable[..., str], ours: Engine) -> None:
    told = _lines(take(changed("UPDATE computehosts SET reservable = 0 WHERE id = '1'")))
    (about_host,) = (line for line in told["taken over with a difference"] if line.startswith("host 1 "))
    assert "it is taken over as reservable, because leases have it" in about_host
    host = SqlReader(ours).host("1")
    assert host is not None
    assert (host["reservable"], host["out_until"]) == (True, None)


def test_a_host_that_is_out_gets_nothing_until_it_is_back(
    take: Import, example: str, make_engine: Callable[..., SiteEngine]
) -> None:
    assert take(example).status == 0
    site = make_engine().plan
    number = site.engine.site.index["node10"]
    assert not site.parts[None].planner.plan.availability.free(NOW + 30 * DAY, NOW + 60 * DAY)[:, number].any()
    site.engine.of_host("node10").hosts.back("node10")
    free = site.parts[None].planner.plan.availability.free(NOW, NOW + 60 * DAY)
    assert set(free[:, number]) >= {32, 15872, WHOLE_HOST}


def test_a_host_of_the_pool_with_another_id_refuses(take: Import, example: str, ours: Engine) -> None:
    assert take(example).status == 0
    with ours.begin() as connection:
        connection.execute(schema.HOSTS.update().where(schema.HOSTS.c.id == 10).values(id=7))
    before = _rows(ours)
    ended = take(example)
    assert (ended.status, _rows(ours)) == (2, before)
    (refused,) = _lines(ended)["cannot be taken over"]
    assert refused == "host 10 (node10): there is another host of the pool here with its name"


# -- errors ----------------------------------------------------------------------------------------------------


def test_no_engine_may_lead(take: Import, example: str, ours: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "coordination"
    folder.mkdir()
    coordinator = coordination.get_coordinator(f"file://{folder}", b"an engine")
    coordinator.start()
    lock = coordinator.get_lock(b"lease-scheduler-default")
    assert lock.acquire()
    try:
        ended = take(example)
    finally:
        lock.release()
        coordinator.stop()
    assert ended.status == 2
    (line,) = ended.errors.splitlines()
    assert "service.coordination_url: an engine leads the site; stop all engines first" in line
    assert SqlReader(ours).hosts() == []
    assert take(example).status == 0


def test_a_database_that_cannot_be_read(take: Import, changed: Callable[..., str], ours: Engine) -> None:
    strange = {
        "nonsense": "is no URL of a database",
        "mysql+pymysql://root@127.0.0.1:1/blazar": "Blazar's database cannot be read",
        str(ours.url): "has no table computehost_allocations; it must be Blazar's, of release 16 to 18",
        changed("ALTER TABLE leases ADD COLUMN deleted INTEGER"): "only marks rows of leases as deleted",
    }
    for url, problem in strange.items():
        ended = take(url, program=url == "nonsense")
        (line,) = ended.errors.splitlines()
        assert (ended.status, ended.output) == (2, "")
        assert ": --connection: " in line
        assert problem in line


def test_a_lease_to_leave_out_must_be_there(take: Import, example: str) -> None:
    ended = take(example, "--leave-out", "nobody")
    assert (ended.status, "--leave-out: Blazar has no lease nobody" in ended.errors) == (2, True)
