from __future__ import annotations

import threading
from dataclasses import fields, replace

import pytest
from sqlalchemy import Engine, event, func, insert, select, update

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.breach import Breach, BreachKind
from lease_scheduler.model.documents import Document
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.attributes import ANSWERS
from lease_scheduler.records.feeds import FeedRecord, digest_of
from lease_scheduler.records.history import BreachRecord, RevenueRecord
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.listing import LeaseEntry
from lease_scheduler.records.messages import Message
from lease_scheduler.records.site_state import SITE_STATE
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.records.writes import DeposedError, StoreChanges
from lease_scheduler.store.sql import purge, schema
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import HOSTS
from lease_scheduler.store.sql.store import SqlStore

from . import values


def _leading(database: Engine) -> SqlStore:
    store = SqlStore(database)
    store.take_over("engine", 1)
    store.load()
    return store


def _rows(database: Engine, table: str) -> int:
    with database.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(schema.METADATA.tables[table])).scalar_one())


def test_everything_that_is_written_is_read_again(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(3)
    document = values.document(lease)
    changes = values.changes_of(lease, document)
    store.commit(changes)
    found = SqlStore(database)
    assert found.take_over("another", 30) == 2
    snapshot = found.load()
    assert snapshot.leases == (lease,)
    assert snapshot.documents == {lease.lease_id: document}
    assert snapshot.intents == tuple(changes.begun)
    assert [host.name for host in snapshot.hosts] == ["compute-1", "compute-2", "compute-3"]
    assert snapshot.hosts[0] == values.host(1)
    assert snapshot.floating_ips[0].floating_ip_address == "10.0.0.1"
    assert snapshot.series == tuple(changes.series.values())
    assert snapshot.subscriptions == tuple(changes.subscriptions.values())
    assert snapshot.idleness == changes.idleness
    found.commit(StoreChanges(30, idleness={lease.lease_id: None}))
    assert found.load().idleness == {}
    assert snapshot.feeds == tuple(changes.feeds.values())
    assert snapshot.private_properties == {("physical:host", "rack"): True}
    assert (snapshot.next_sequence, snapshot.next_intent, snapshot.clock) == (4, 3, 20)
    assert [message for _, message in found.waiting_messages()] == changes.messages


def test_a_maintenance_still_moves_others_after_a_restart(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(3)
    nodes = tuple(replace(node_set, hosts=frozenset({"compute-1", "compute-2"})) for node_set in lease.request.nodes)
    lease = replace(
        lease, request=replace(lease.request, kind=LeaseKind.RESERVATION, nodes=nodes, start=20, moves_others=True)
    )
    store.commit(values.changes_of(lease, values.document(lease, maintenance=True)))
    found = SqlStore(database)
    found.take_over("another", 30)
    assert found.load().leases == (lease,)


def test_a_lease_that_is_written_again_replaces_all_that_belonged_to_it(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    store.commit(values.changes_of(lease, document))
    later = replace(lease, state=LeaseState.ACTIVE, active_since=25, holdings=lease.holdings[1:], saved_on=None)
    again = StoreChanges(25)
    again.leases = {lease.lease_id: later}
    again.documents = {lease.lease_id: replace(document, name="renamed", reservations=document.reservations[:1])}
    again.over = [1]
    store.commit(again)
    snapshot = _leading(database).load()
    assert snapshot.leases == (later,)
    assert snapshot.documents[lease.lease_id].name == "renamed"
    assert len(snapshot.documents[lease.lease_id].reservations) == 1
    assert [intent.intent_id for intent in snapshot.intents] == [2]
    view = SqlReader(database).lease(lease.lease_id)
    assert view is not None
    assert (view["version"], view["state"]) == (2, "active")


def test_what_has_not_changed_of_a_lease_is_not_written_again(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    store.commit(values.changes_of(lease, document))
    statements: list[str] = []
    event.listen(database, "before_cursor_execute", lambda *said: statements.append(said[2]))

    def write(writer: SqlStore, **new: object) -> set[str]:
        again = StoreChanges(25)
        again.leases = {lease.lease_id: replace(lease, **new)}  # type: ignore[arg-type]
        again.documents = {lease.lease_id: document}
        statements.clear()
        writer.commit(again)
        return {
            table for table in ("holdings", "lease_reservations") if any(f" {table} " in each for each in statements)
        }

    assert write(store, reason="something else") == set()
    assert write(store, holdings=lease.holdings[1:]) == {"holdings"}
    assert write(store) == {"holdings"}
    # Another engine does not know what the first one has written.
    later = _leading(database)
    assert write(later) == {"holdings", "lease_reservations"}
    assert write(later) == set()
    assert _leading(database).load().leases == (lease,)


def test_a_lease_that_is_over_is_not_loaded_but_still_shown(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    store.commit(values.changes_of(lease, document))
    over = StoreChanges(80)
    over.leases = {
        lease.lease_id: replace(lease, state=LeaseState.DONE, ended=80, holdings=(), saved_on=None, reason="done")
    }
    over.documents = {lease.lease_id: document}
    store.commit(over)
    assert _leading(database).load().leases == ()
    view = SqlReader(database).lease(lease.lease_id)
    assert view is not None
    assert (view["state"], view["ended"], view["holdings"]) == ("done", 80, [])


def test_who_was_deposed_can_write_nothing(database: Engine) -> None:
    first = _leading(database)
    values.hosts(first)
    second = SqlStore(database)
    second.take_over("second", 2)
    lease = values.lease(0)
    changes = values.changes_of(lease, values.document(lease))
    with pytest.raises(DeposedError):
        first.commit(changes)
    with pytest.raises(DeposedError):
        first.record_steps([(1, 1)])
    with pytest.raises(DeposedError):
        first.load()
    assert not first.is_mine()
    assert second.is_mine()
    assert _rows(database, "leases") == 0


def test_steps_of_an_intent_are_kept(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    store.commit(values.changes_of(lease, values.document(lease)))
    store.record_steps([(1, 2)])
    intents = _leading(database).load().intents
    assert [(intent.intent_id, intent.step) for intent in intents] == [(1, 2), (2, 0)]


def test_nothing_is_written_if_one_part_of_a_transaction_fails(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    store.commit(values.changes_of(lease, document))
    twice = StoreChanges(30)
    other = values.lease(1)
    twice.leases = {other.lease_id: other}
    twice.documents = {other.lease_id: values.document(other)}
    twice.begun = [Intent(1, other.lease_id, None)]  # the number is taken
    with pytest.raises(Exception, match="(?i)unique|duplicate"):
        store.commit(twice)
    assert [each.lease_id for each in _leading(database).load().leases] == [lease.lease_id]


def test_engines_that_take_over_at_the_same_time_get_different_numbers(database: Engine) -> None:
    sites = [f"site-{number}" for number in range(5)]  # MariaDB finds a deadlock on three sites of four
    epochs: dict[str, list[int]] = {site: [] for site in sites}
    together = threading.Barrier(6, timeout=60)

    def take_over(name: str) -> None:
        for site in sites:
            store = SqlStore(database, site)
            together.wait()
            epochs[site].append(store.take_over(name, 1))

    threads = [threading.Thread(target=take_over, args=(f"engine-{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sorted(epochs[site]) for site in sites] == [[1, 2, 3, 4, 5, 6]] * len(sites)


def test_only_the_last_one_who_took_over_can_write_when_many_try(database: Engine) -> None:
    stores = []
    for number in range(4):
        store = SqlStore(database)
        store.take_over(f"engine-{number}", 1)
        stores.append(store)
    written, deposed = [], []
    together = threading.Barrier(4)

    def write(number: int) -> None:
        changes = StoreChanges(2)
        changes.hosts = {number: values.host(number)}
        together.wait()
        try:
            stores[number].commit(changes)
            written.append(number)
        except DeposedError:
            deposed.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (written, sorted(deposed)) == ([3], [0, 1, 2])
    assert _rows(database, "hosts") == 1


def test_sent_notifications_are_forgotten_and_the_others_keep_their_order(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    for sequence in range(3):
        lease = values.lease(sequence)
        changes = values.changes_of(lease, values.document(lease))
        changes.begun = []
        store.commit(changes)
    waiting = store.waiting_messages()
    store.forget_messages([waiting[0][0]])
    assert store.waiting_messages() == waiting[1:]


def test_lists_filter_sort_and_page(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    names = ["b", "a", "c", "a", "d"]
    for sequence, name in enumerate(names):
        lease = values.lease(sequence)
        changes = StoreChanges(20)
        changes.leases = {lease.lease_id: lease}
        project = "even" if sequence % 2 == 0 else "odd"
        changes.documents = {lease.lease_id: values.document(lease, name=name, project_id=project)}
        store.commit(changes)
    reader = SqlReader(database)
    assert [view["name"] for view in reader.leases({})] == names
    assert [view["name"] for view in reader.leases({"project_id": "odd"})] == ["a", "a"]
    seen: list[str] = []
    marker = None
    for _ in range(4):
        page = reader.leases({}, [("name", "desc")], limit=2, marker=marker)
        if not page:
            break
        seen += [view["name"] for view in page]
        marker = page[-1]["id"]
    assert seen == ["d", "c", "b", "a", "a"]
    assert [view["name"] for view in reader.leases({"statuses": ["ACTIVE"]})] == []
    assert len(reader.leases({"statuses": ["PENDING"]})) == 5
    numbers = [view["number"] for view in reader.leases({})]
    assert numbers == sorted(set(numbers)) and numbers[0] >= 1
    assert [view["number"] for view in reader.leases({"number": numbers[1]})] == [numbers[1]]
    assert reader.leases({"number": numbers[-1] + 1}) == []


def test_the_trusts_of_leases_and_hosts_are_found(database: Engine) -> None:
    """Those that a request has given and no lease has are deleted."""
    store = _leading(database)
    values.hosts(store)
    with database.begin() as connection:
        connection.execute(update(HOSTS).where(HOSTS.c.name == "compute-1").values(trust_id="of a host"))
    lease = values.lease(0)
    store.commit(values.changes_of(lease, replace(values.document(lease), trust_id="given")))
    for known in (SqlReader(database).known_trusts, store.known_trusts):
        assert known(["given", "left", "of a host"]) == {"given", "of a host"}
        assert known([]) == frozenset()


def test_entries_tell_whatever_changes_a_view(database: Engine) -> None:
    """Lists are written again only if the entry of a lease differs."""
    store = _leading(database)
    values.hosts(store)
    leases = [values.lease(sequence) for sequence in range(3)]
    store.commit(values.changes_of(leases[0], values.document(leases[0])))
    for lease in leases[1:]:
        changes = StoreChanges(25)
        changes.leases = {lease.lease_id: lease}
        changes.documents = {lease.lease_id: values.document(lease)}
        store.commit(changes)
    reader = SqlReader(database)
    assert [entry.lease_id for entry in reader.lease_entries({})] == [lease.lease_id for lease in leases]
    marker = leases[0].lease_id
    assert [entry.lease_id for entry in reader.lease_entries({}, limit=1, marker=marker)] == [leases[1].lease_id]

    def check() -> tuple[LeaseEntry, Document]:
        entry, view = reader.lease_entries({})[0], reader.lease(leases[0].lease_id)
        assert view is not None
        kinds = (view["operation"], len(view["breaches"]), view["idle_since"])
        assert tuple(entry) == (view["id"], view["project_id"], view["revision"], *kinds)
        (same,) = reader.leases_by_id([leases[0].lease_id, "unknown"])
        assert same == view
        return entry, view

    before = check()
    changes = StoreChanges(30)
    changes.over = [1, 2]
    store.commit(changes)
    over = check()
    assert (before[0].operation, over[0].operation) == ("discard", None)
    changes = StoreChanges(40)
    changes.leases = {leases[0].lease_id: replace(leases[0], state=LeaseState.ACTIVE)}
    changes.documents = {leases[0].lease_id: values.document(leases[0])}
    changes.idleness = {leases[0].lease_id: Idleness(35, 5, 40)}
    changes.breaches = [BreachRecord("project", Breach(leases[0].lease_id, BreachKind.LATE_START, 40, 5, 5, 1.5))]
    store.commit(changes)
    entry, view = check()
    assert (entry.breach_count, entry.idle_since) == (1, 35)
    assert view["breaches"][0]["penalty"] == 1.5


def test_allocations_name_the_reservation_of_each_host(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    store.commit(values.changes_of(lease, document))
    instances, whole = (reservation.reservation_id for reservation in document.reservations)
    found = {each["resource_id"]: each["reservations"] for each in SqlReader(database).allocations(now=0)}
    assert [(each["id"], each["start"], each["end"]) for each in found["1"]] == [
        (instances, 25, 60),
        (whole, 25, 60),
        (whole, 95, 130),
    ]
    assert [(each["id"], each["start"]) for each in found["2"]] == [(instances, 25), (instances, 95)]
    assert found["3"] == []
    only = SqlReader(database).allocations(reservation_id=whole)
    assert [each["resource_id"] for each in only if each["reservations"]] == ["1"]


def test_what_was_used_is_counted_within_the_interval(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    store.commit(values.changes_of(lease, values.document(lease)))
    (entry,) = SqlReader(database).usage("project", 25, 100, 100)
    assert entry["node_seconds"] == 5 * 3
    assert entry["resource_seconds"] == {"VCPU": 5 * 4}
    assert SqlReader(database).usage("project", 30, 100, 100) == []
    assert SqlReader(database).usage("other", 0, 100, 100) == []


def test_what_was_granted_is_kept(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    full = Grant(
        price=1.5,
        retained=0.25,
        assured=Assured.STATISTICAL,
        assured_from=812,
        planned_lifetime=7_200,
        expected_wait=3_600,
        expected_wait_from=59,
    )
    assert all(getattr(full, each.name) != getattr(UNANSWERED, each.name) for each in fields(Grant))
    lease = values.lease(0, grant=full)
    store.commit(values.changes_of(lease, values.document(lease)))
    assert _leading(database).load().leases == (lease,)
    view = SqlReader(database).lease(lease.lease_id)
    assert view is not None
    assert {each.name: view[each.name] for each in ANSWERS} == {
        "price": 1.5,
        "assured": "statistical",
        "assured_from": 812,
        "planned_lifetime": 7_200,
        "expected_wait": 3_600,
        "expected_wait_from": 59,
    }


def test_prices_are_kept(database: Engine) -> None:
    """Terms, offers, what a policy has learnt about projects, and revenue."""
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0, offered_until=77)
    # Some databases do not return a number as it was given, unless told to.
    lease = replace(lease, request=replace(lease.request, max_price=123456789.01), grant=Grant(price=1 / 7))
    changes = values.changes_of(lease, values.document(lease))
    changes.policy_state = {
        ("", "pricing", "adaptive", "a"): {"accepted": 1.0},
        ("", "pricing", "random", "quotes"): {"drawn": 3},
        ("", "admission", "adaptive", "a"): {"refused": 7},
    }
    store.commit(changes)
    again = StoreChanges(30)
    again.policy_state = {
        ("", "pricing", "adaptive", "a"): {"accepted": 1.5},
        ("", "pricing", "adaptive", "b"): {"accepted": None},
    }
    again.revenue = [
        RevenueRecord("1", "project", 30, "earned", 2 + 1 / 7, 3 + 1 / 7),
        RevenueRecord("2", "project", 31, "earned", 1.0, None),
        RevenueRecord("3", "project", 32, "rejected_by_user", 4.0, None),
        RevenueRecord("4", "project", 33, "rejected", None, 6.0),
        RevenueRecord("5", "other", 33, "rejected", None, 7.0),
    ]
    assert not again.is_empty()
    store.commit(again)
    snapshot = _leading(database).load()
    assert snapshot.leases == (lease,)
    assert snapshot.policy_state == {
        ("", "pricing", "adaptive"): {"a": {"accepted": 1.5}, "b": {"accepted": None}},
        ("", "pricing", "random"): {"quotes": {"drawn": 3}},
        ("", "admission", "adaptive"): {"a": {"refused": 7}},
    }
    view = SqlReader(database).lease(lease.lease_id)
    assert view is not None
    assert (view["price"], view["max_price"], view["offered_until"]) == (1 / 7, 123456789.01, 77)
    (row,) = SqlReader(database).revenue("project", 30, 33)
    assert row == {
        "project_id": "project",
        "start": 30,
        "earned": 3 + 1 / 7,
        "undercharged": 1.0,
        "rejected": 0.0,
        "rejected_by_user": 4.0,
    }
    rejected = {row["project_id"]: row["rejected"] for row in SqlReader(database).revenue(None, 33, 34)}
    assert rejected == {"project": 6.0, "other": 7.0}


def test_breaches_are_kept_and_told_by_project_and_kind(database: Engine) -> None:
    """haizea F95: also what a lease still lacks, its compensation, which offers belong together, late operations."""
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0, negotiation="other", missing_since=40, missing_nodes=2, penalties=1 / 3)
    lease = replace(lease, grant=Grant(price=4.0, retained=0.5))
    changes = values.changes_of(lease, values.document(lease))
    late = Breach(lease.lease_id, BreachKind.LATE_START, 30, 90, 270, 1 / 3)
    changes.breaches = [
        BreachRecord("project", late),
        BreachRecord("project", replace(late, instant=31, penalty=1.0)),
        BreachRecord("project", Breach("x", BreachKind.PREEMPTED, 32, 0, 0)),
        BreachRecord("other", Breach("y", BreachKind.ENDED_EARLY, 33, 5, 2**40, 7.0)),
    ]
    changes.lateness = {("", "suspend"): [1, 2], ("", "start"): [30]}
    store.commit(changes)
    again = StoreChanges(40)
    again.lateness = {("", "suspend"): [1, 2, 3]}
    assert not again.is_empty()
    store.commit(again)
    snapshot = _leading(database).load()
    assert snapshot.leases == (lease,)
    assert snapshot.lateness == {("", "suspend"): [1, 2, 3], ("", "start"): [30]}
    reader = SqlReader(database)
    view = reader.lease(lease.lease_id)
    assert view is not None
    assert (view["penalties"], view["negotiation_id"]) == (1 / 3, "other")
    assert [(each["kind"], each["instant"], each["penalty"]) for each in view["breaches"]] == [
        ("late-start", 30, 1 / 3),
        ("late-start", 31, 1.0),
    ]
    kept = [
        (row["project_id"], row["kind"], row["count"], row["node_seconds"]) for row in reader.penalties(None, 0, 99)
    ]
    assert kept == [
        ("other", "ended-early", 1, 2**40),
        ("project", "late-start", 2, 540),
        ("project", "preempted", 1, 0),
    ]
    (row,) = reader.penalties("project", 30, 32)
    assert row["penalty"] == pytest.approx(4 / 3)
    assert reader.penalties("project", 33, 99) == []


def test_a_reservation_that_is_ended_early_ends_when_it_is_told_to(database: Engine) -> None:
    """Also while its servers are being stopped; until then its interval is the promised one."""
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0, holdings=(Holding((1, 2, 1), 20, 20, 40, 45, Closing.SHUTDOWN),))
    request = replace(lease.request, kind=LeaseKind.RESERVATION, start=20, preemptible=False)
    lease = replace(lease, request=request, state=LeaseState.ACTIVE, started=20)
    changes = values.changes_of(lease, values.document(lease))
    changes.begun = []
    store.commit(changes)
    reader = SqlReader(database)

    def shown() -> tuple[int, str | None]:
        view = reader.lease(lease.lease_id)
        assert view is not None
        return view["end"], view["operation"]

    assert shown() == (120, None)
    stopping = StoreChanges(40)
    stopping.begun = [Intent(1, lease.lease_id, Operation(OperationKind.STOP, lease.lease_id, (1, 2, 1), 40, 45))]
    store.commit(stopping)
    assert shown() == (40, "stop")


def test_the_calendar_tells_what_hosts_save_that_have_slept(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    reader = SqlReader(database)
    assert [host["power"] for host in reader.calendar_hosts()] == [None] * 3
    sleeps = StoreChanges(25)
    power = HostPower(PowerState.ASLEEP, 25, slept=7)
    watts = {"watts_awake": "400"}
    sleeps.hosts = {2: values.host(2, power=power, properties={"rack": "2", **watts})}
    store.commit(sleeps)
    assert [(host["power"], host["watts"]) for host in reader.calendar_hosts()] == [
        (None, {}),
        (power, watts),
        (None, {}),
    ]


def test_the_calendar_tells_what_changed_since_a_revision(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    first, second = values.lease(0), values.lease(1)
    for lease in (first, second):
        changes = StoreChanges(20)
        changes.leases = {lease.lease_id: lease}
        changes.documents = {lease.lease_id: values.document(lease)}
        store.commit(changes)
    reader = SqlReader(database)
    everything = reader.calendar_index(0, 1_000)
    assert everything.version == reader.site_version()
    assert [each.lease_id for each in everything.leases] == [first.lease_id, second.lease_id]
    shown = reader.calendar_leases([second.lease_id, first.lease_id, "nothing"])
    assert {each["id"]: each["revision"] for each in shown} == {
        each.lease_id: each.revision for each in everything.leases
    }
    assert len(reader.calendar_hosts()) == 3
    assert reader.lease_states(None) == {first.state.value: 2}
    assert reader.lease_states("nobody") == {}
    gone = StoreChanges(30)
    gone.leases = {first.lease_id: replace(first, state=LeaseState.CANCELLED, ended=30, holdings=(), saved_on=None)}
    gone.documents = {first.lease_id: values.document(first, deleted_at=30)}
    store.commit(gone)
    assert reader.site_version() == (everything.version.epoch, everything.version.revision + 1)
    changed = reader.calendar_changes(everything.version.revision, 0, 1_000, 1)
    assert changed == (reader.site_version(), [], [first.lease_id])
    assert reader.calendar_changes(0, 0, 1_000, 1) is None, "more have changed than were asked for"
    late = reader.calendar_changes(0, 10_000, 20_000, 2)
    assert late is not None
    assert sorted(late.removed) == sorted([first.lease_id, second.lease_id]), "what is out of the span is removed"
    assert reader.lease_states(None) == {second.state.value: 1}


def test_hosts_that_leases_hold_at_an_instant(database: Engine) -> None:
    """Those of holdings that have begun and not ended, until the next start or end."""
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    changes = StoreChanges(20)
    changes.leases = {lease.lease_id: lease}
    changes.documents = {lease.lease_id: values.document(lease)}
    store.commit(changes)
    reader = SqlReader(database)
    first = lease.holdings[0]
    held = frozenset(
        host for each in reader.calendar_leases([lease.lease_id])[0]["holdings"][:1] for host in each["hosts"]
    )
    assert held
    assert reader.held_hosts(first.start - 1) == (frozenset(), first.start)
    assert reader.held_hosts(first.start).hosts == held
    assert reader.held_hosts(first.start).until == first.end
    assert reader.held_hosts(lease.holdings[-1].end) == (frozenset(), None)


def test_what_ended_long_ago_can_be_forgotten(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    changes = values.changes_of(lease, document)
    changes.begun = []
    store.commit(changes)
    over = StoreChanges(80)
    over.leases = {lease.lease_id: replace(lease, state=LeaseState.DONE, ended=80, holdings=(), saved_on=None)}
    over.documents = {lease.lease_id: document}
    over.revenue = [RevenueRecord(lease.lease_id, "project", 80, "earned", 2.0, None)]
    over.breaches = [BreachRecord("project", Breach(lease.lease_id, BreachKind.LATE_START, 80, 1, 1))]
    store.commit(over)
    assert purge.count(database, 80) == 0
    assert purge.purge(database, 81) == 1
    for table in (
        "leases",
        "lease_reservations",
        "holdings",
        "lease_history",
        "usage_records",
        "revenue_records",
        "breaches",
    ):
        assert _rows(database, table) == 0, table


def test_a_lease_that_is_still_being_removed_is_not_purged(database: Engine) -> None:
    store = _leading(database)
    values.hosts(store)
    lease = replace(values.lease(0), state=LeaseState.DONE, ended=80)
    changes = values.changes_of(lease, values.document(lease))
    store.commit(changes)
    assert [purge.count(database, 81), purge.purge(database, 81)] == [0, 0]
    assert _rows(database, "leases") == 1
    over = StoreChanges(90)
    over.over = [intent.intent_id for intent in changes.begun]
    store.commit(over)
    assert [purge.count(database, 81), purge.purge(database, 81)] == [1, 1]
    assert _rows(database, "leases") == 0


def test_a_subscription_ends_with_its_deliveries(database: Engine) -> None:
    store = SqlStore(database)
    store.take_over("engine", 1)
    changes = StoreChanges(2)
    changes.subscriptions["one"] = SubscriptionRecord("one", "project", "user", "webhook", "https://a/", 2)
    changes.deliveries = [Delivery("first", "one", Message("lease.create", {"lease_id": "a"}), 3)]
    store.commit(changes)
    (shown,) = SqlReader(database).subscriptions("project")
    assert (shown["waiting"], shown["failures"], shown["next_attempt_at"]) == (1, 0, None)
    assert "secret" not in shown
    store.commit(StoreChanges(4, subscriptions={"one": None}))
    with database.connect() as connection:
        assert connection.execute(select(schema.DELIVERIES)).all() == []


def test_a_withdrawn_feed_is_gone(database: Engine) -> None:
    store, reader = SqlStore(database), SqlReader(database)
    store.take_over("engine", 1)
    assert store.load().feeds == ()
    phone, wall = (FeedRecord(name, "red", "user", name, digest_of(name), 2) for name in ("phone", "wall"))
    store.commit(StoreChanges(2, feeds={"phone": phone, "wall": wall}))
    assert store.load().feeds == (phone, wall)
    assert reader.feed_owner(digest_of("phone")) == ("red", digest_of("phone"))
    assert [each["id"] for each in reader.feeds("red")] == ["phone", "wall"]
    assert reader.feeds("blue") == []
    assert "digest" not in (reader.feed("wall") or {})
    store.commit(StoreChanges(3, feeds={"phone": None}))
    assert (reader.feed("phone"), reader.feed_owner(digest_of("phone"))) == (None, None)
    assert store.load().feeds == (wall,)


def test_what_is_in_no_pool_belongs_to_the_first_one(database: Engine) -> None:
    """Hosts and what policies have learnt are in no pool before there are any."""
    values.hosts(_leading(database))
    state = {"family": "pricing", "policy": "adaptive", "subject": "a", "state": {"drawn": 3}}
    with database.begin() as connection:
        connection.execute(insert(schema.POLICY_STATE).values(state))
        connection.execute(insert(schema.LATENESS).values(kind="start", seconds=[7]))
    store = SqlStore(database)
    store.take_over("another", 1)
    before = store.load()
    assert {each.pool for each in before.hosts} == {None}
    assert before.policy_state == {("", "pricing", "adaptive"): {"a": {"drawn": 3}}}
    assert before.lateness == {("", "start"): [7]}
    store.join_pool("general")
    after = store.load()
    assert {each.pool for each in after.hosts} == {"general"}
    assert after.policy_state == {("general", "pricing", "adaptive"): {"a": {"drawn": 3}}}
    assert after.lateness == {("general", "start"): [7]}


def test_what_is_of_the_whole_site_stays_in_no_pool(database: Engine) -> None:
    """Limits of peers would be lost at every restart of a site with pools."""
    _leading(database)
    with database.begin() as connection:
        for family, policy in sorted(SITE_STATE):
            row = {"family": family, "policy": policy, "subject": "a", "state": {"number": 1}}
            connection.execute(insert(schema.POLICY_STATE).values(row))
    store = SqlStore(database)
    store.take_over("another", 1)
    before = store.load().policy_state
    store.join_pool("general")
    assert store.load().policy_state == before
    assert before.keys() == {("", *each) for each in SITE_STATE}
    assert SqlReader(database).arrivals() == {"a": {"number": 1}}
