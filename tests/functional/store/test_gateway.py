"""The database of a gateway, and two gateways that use it at the same time."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest
from sqlalchemy import Engine

from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.negotiation.advance import advance, begin
from lease_scheduler.federation.negotiation.events import EndWanted
from lease_scheduler.federation.negotiation.record import Candidate, Mode, Negotiation, Rules
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.federated import (
    FederatedLease,
    FollowedMember,
    GatewayChanges,
    OutdatedError,
    StoredRouting,
)
from lease_scheduler.records.history import Actor, Transition
from lease_scheduler.store.sql import purge
from lease_scheduler.store.sql.gateway import SqlGateway
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore

from . import values


@pytest.fixture
def store(database: Engine) -> SqlGateway:
    """A store of a gateway."""
    found = SqlGateway(database)
    found.join(1)
    return found


def _lease(**changed: object) -> FederatedLease:
    lease = values.lease(0, state=LeaseState.PENDING, holdings=(), saved_on=None)
    record = begin(Ask(lease.request, 200), [Candidate("north"), Candidate("south", False)], Mode.BEST, Rules("g"), 20)
    assert isinstance(record, Negotiation)
    made = FederatedLease(lease, values.document(lease), record, driver="first", driven_until=90, due_at=90)
    return replace(made, **changed)  # type: ignore[arg-type]


def _written(store: SqlGateway, *leases: FederatedLease) -> list[FederatedLease]:
    return store.commit(GatewayChanges(20, list(leases)))


def test_what_is_written_is_read_again(store: SqlGateway) -> None:
    (made,) = _written(store, _lease(heard=7, failures=2))
    assert made.version == 1
    assert store.lease(made.lease_id) == made
    held = Holding((), 1_000, 1_000, 1_500, 1_500)
    changed = replace(
        made,
        lease=replace(made.lease, state=LeaseState.SCHEDULED, holdings=(held,)),
        document=replace(made.document, site="north", site_lease_id="f0000000-0000-4000-8000-000000000000"),
        negotiation=advance(made.negotiation, EndWanted(), 21),
        driver=None,
        driven_until=None,
        due_at=None,
    )
    (again,) = _written(store, changed)
    assert again == replace(changed, version=2)
    assert store.leases([made.lease_id, "unknown"]) == [again]
    assert store.lease("unknown") is None


def test_the_api_shows_leases_of_a_gateway(store: SqlGateway, database: Engine) -> None:
    leases = _written(store, _lease(), _lease())
    reader = SqlReader(database)
    assert [view["id"] for view in reader.leases({})] == [each.lease_id for each in leases]
    assert [each.lease.sequence for each in leases] == [0, 1]
    moved = Transition(leases[0].lease_id, 20, "new", "pending", "", Actor("eve", "red"))
    store.commit(GatewayChanges(20, transitions=[moved]))
    (entry,) = reader.history(leases[0].lease_id)
    assert (entry["to"], entry["user_id"]) == ("pending", "eve")


def test_who_has_read_an_older_version_writes_nothing(store: SqlGateway, database: Engine) -> None:
    (made,) = _written(store, _lease())
    _written(store, replace(made, failures=1))
    other = _lease()
    with pytest.raises(OutdatedError):
        _written(store, other, replace(made, failures=5))
    assert store.lease(other.lease_id) is None
    found = store.lease(made.lease_id)
    assert found is not None
    assert found.failures == 1
    with pytest.raises(OutdatedError):
        SqlGateway(database).commit(GatewayChanges(20, [_lease(lease=made.lease, document=made.document)]))


def test_gateways_that_write_at_once_write_one_after_the_other(store: SqlGateway, database: Engine) -> None:
    (made,) = _written(store, _lease())
    outcomes: list[str] = []

    def write(number: int) -> None:
        mine = SqlGateway(database)
        mine.join(1)
        _written(mine, _lease())
        try:
            _written(mine, replace(made, failures=number))
        except OutdatedError:
            outcomes.append("outdated")
        else:
            outcomes.append("written")

    threads = [Thread(target=write, args=(number,)) for number in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["outdated"] * 4 + ["written"]
    ids = store.all_ids()
    assert len(ids) == 6
    assert sorted(each.lease.sequence for each in store.leases(ids)) == list(range(6))


def test_what_is_due_is_found_by_those_who_may_drive_it(store: SqlGateway) -> None:
    mine, free, later, nothing = _written(
        store,
        _lease(due_at=50),
        _lease(due_at=40, driver=None, driven_until=None),
        _lease(due_at=500, driver=None, driven_until=None),
        _lease(due_at=None),
    )
    assert store.due(60, "first", 10) == [free.lease_id, mine.lease_id]
    assert store.due(60, "second", 10) == [free.lease_id]
    assert store.due(90, "second", 10) == [free.lease_id, mine.lease_id]
    assert store.due(90, "second", 1) == [free.lease_id]
    assert store.due(39, "first", 10) == []
    assert store.next_due() == 40
    assert nothing.lease_id not in store.due(10_000, "second", 10)
    assert later.lease_id in store.due(10_000, "second", 10)


def test_leases_are_found_by_their_sites(store: SqlGateway) -> None:
    found = [_lease(), _lease(), _lease()]
    at = [
        replace(each, document=replace(each.document, site=site, site_lease_id=f"at-{number}"))
        for number, (each, site) in enumerate(zip(found, ("north", "north", "south"), strict=True))
    ]
    over = replace(at[1], lease=replace(at[1].lease, state=LeaseState.DONE, ended=30))
    _written(store, at[0], over, at[2])
    assert store.live_at("north") == [at[0].lease_id]
    assert store.by_site_lease(["at-0", "at-2", "at-9"]) == {"at-0": at[0].lease_id, "at-2": at[2].lease_id}


def test_the_router_remembers_and_is_not_overwritten(store: SqlGateway) -> None:
    first = store.routing()
    assert first == StoredRouting()
    state = RoutingState("north", {"all": {"north": 1.5, "south": 0.25}})
    store.commit(GatewayChanges(1, routing=replace(first, state=state)))
    assert store.routing() == StoredRouting(state, 1)
    for stale in (first, replace(store.routing(), version=0)):
        with pytest.raises(OutdatedError):
            store.commit(GatewayChanges(1, routing=stale))
    store.commit(GatewayChanges(1, routing=replace(store.routing(), state=RoutingState("south"))))
    assert store.routing() == StoredRouting(RoutingState("south"), 2)


def test_leases_are_counted_and_listed_by_site(store: SqlGateway, database: Engine) -> None:
    at_north = [replace(each, document=replace(each.document, site="north")) for each in (_lease(), _lease(), _lease())]
    at_north[0] = replace(at_north[0], lease=replace(at_north[0].lease, state=LeaseState.DONE, ended=30))
    made = _written(store, *at_north, _lease())
    reader = SqlReader(database)
    project = made[1].document.project_id
    assert reader.leases_at_sites(None) == reader.leases_at_sites(project) == {"north": 2}
    assert reader.leases_at_sites("another") == {}
    listed = reader.leases({"site": "north"})
    assert [view["id"] for view in listed] == [each.lease_id for each in made[:3]]
    # The queue is that of the site.
    assert [each.queue_position for each in reader.calendar_index(0, 10_000).leases] == [None] * len(made)


def test_members_are_followed_from_where_they_were_left(store: SqlGateway) -> None:
    assert store.followed("north") == FollowedMember("north")
    for followed in (FollowedMember("north", 7), FollowedMember("north", 7, 30), FollowedMember("north", 9)):
        store.commit(GatewayChanges(1, members=[followed]))
        assert store.followed("north") == followed
        assert store.unreachable() == ({} if followed.unreachable_since is None else {"north": 30})
    assert store.followed("south") == FollowedMember("south")


def test_records_are_purged_with_their_leases(store: SqlGateway, database: Engine) -> None:
    live = _lease()
    (made,) = _written(store, replace(live, lease=replace(live.lease, state=LeaseState.DONE, ended=30)))
    assert purge.purge(database, 31) == 1
    assert store.lease(made.lease_id) is None
    assert store.all_ids() == []


def test_the_database_of_an_engine_is_refused(database: Engine) -> None:
    SqlStore(database).take_over("engine-1", 1)
    with pytest.raises(InvalidValueError, match="is the database of engine engine-1"):
        SqlGateway(database).join(1)
