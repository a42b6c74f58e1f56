"""Operations of tenants on leases, without threads: answers, refusals, documents and notifications."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import LeaseState
from tests.functional.lease_document import lease_document

HOUR = 3_600


def _reservation(core: Any, count: int = 1, **said: Any) -> dict[str, Any]:
    now = core.clock.now()
    return lease_document("a lease", "reservation", count, start=now + HOUR, end=now + 2 * HOUR, **said)


def test_a_quote_keeps_nothing_and_is_what_create_comes_to(core: Any, store: Any) -> None:
    document = _reservation(core, 2)
    before = len(store.commits)
    quoted = core.quotes.quote({}, document)
    assert (quoted["granted"], quoted["hosts"]) == (True, ["1", "2"])
    assert len(store.commits) == before
    lease = core.lease(core.leases.create({}, document)["lease_id"])
    assert (quoted["start"], quoted["end"]) == (lease.holdings[0].run_start, lease.holdings[0].run_end)
    refused = core.quotes.quote({}, _reservation(core))
    assert (refused["granted"], refused["hosts"]) == (False, [])
    assert refused["alternatives"]


def test_a_lease_that_is_refused_leaves_nothing(core: Any, store: Any) -> None:
    core.ask(count=2)
    before = len(store.commits)
    document = _reservation(core)
    with pytest.raises(RefusedError, match="^Not enough hosts available") as caught:
        core.leases.create({}, document)
    assert caught.value.code == 409
    assert caught.value.alternatives
    assert document["id"] not in core.site.work.leases
    assert document["id"] not in core.site.work.documents
    assert not any(changes.leases for changes in store.commits[before:])


def test_projects_are_not_told_names_of_hosts(core: Any) -> None:
    core.ask(count=2)

    def message(context: dict[str, Any]) -> str:
        with pytest.raises(RefusedError) as caught:
            core.leases.create(context, _reservation(core))
        return caught.value.message

    def reason(context: dict[str, Any]) -> str:
        return str(core.quotes.quote(context, _reservation(core))["reason"])

    def reason_of_change(context: dict[str, Any]) -> str:
        return str(core.quotes.quote_change(context, lease_id, longer)["reason"])

    lease_id = core.ask(count=1, start=core.clock.now() + 10 * HOUR, end=core.clock.now() + 11 * HOUR)
    core.ask(count=2, start=core.clock.now() + 11 * HOUR, end=core.clock.now() + 12 * HOUR)
    longer = {"end": core.clock.now() + 12 * HOUR}
    for told in (message, reason, reason_of_change):
        assert "compute-" not in told({}), told.__name__
        assert "compute-" in told({"sees_site": True}), told.__name__


def test_an_update_is_written_with_its_notification(core: Any, store: Any) -> None:
    lease_id = core.ask()
    end = core.lease(lease_id).holdings[0].run_end
    core.leases.update({}, lease_id, {"name": "another", "end": end + HOUR})
    changes = store.commits[-1]
    assert changes.leases[lease_id].holdings[0].run_end == end + HOUR
    assert changes.documents[lease_id].name == "another"
    assert [each.event_type for each in changes.messages] == ["lease.update"]


def test_a_change_for_which_there_is_no_place_changes_nothing(core: Any, store: Any) -> None:
    lease_id = core.ask()
    end = core.lease(lease_id).holdings[0].run_end
    core.ask(count=2, start=end, end=end + HOUR)
    before = core.lease(lease_id), len(store.commits)
    with pytest.raises(RefusedError):
        core.leases.update({}, lease_id, {"name": "another", "end": end + HOUR})
    assert (core.lease(lease_id), len(store.commits)) == before
    assert core.site.work.documents[lease_id].name == "a lease"


def test_a_change_of_another_version_is_refused(core: Any) -> None:
    lease_id = core.ask()
    core.leases.update({}, lease_id, {"name": "b", "version": 1})
    with pytest.raises(RefusedError, match="changed meanwhile") as caught:
        core.leases.update({}, lease_id, {"name": "c", "version": 1})
    assert (caught.value.code, caught.value.field) == (409, "version")


def test_a_deletion_tells_the_state_that_follows(core: Any, store: Any) -> None:
    lease_id = core.ask()
    core.leases.delete({}, lease_id, "not needed")
    changes = store.commits[-1]
    assert changes.leases[lease_id].is_final
    (message,) = [each for each in changes.messages if each.event_type == "lease.delete"]
    assert message.payload["state"] == changes.leases[lease_id].state.value
    core.clock.instant += 5
    assert core.leases.delete({}, lease_id, "again") == {}
    assert store.commits[-1].deleted == {lease_id: core.clock.now()}


def test_an_offer_is_held_until_it_is_accepted(core: Any, store: Any) -> None:
    offer = core.leases.offer({}, _reservation(core, 2))
    lease_id = offer["lease_id"]
    assert offer["expires_at"] > core.clock.now()
    assert core.lease(lease_id).is_offered
    assert not core.quotes.quote({}, _reservation(core))["granted"]
    core.offers.accept({}, lease_id)
    assert not core.lease(lease_id).is_offered
    assert len(store.messages("lease.update")) == 1
    for call in (core.offers.accept, core.offers.reject):
        with pytest.raises(RefusedError, match="is not an open quote"):
            call({}, lease_id)


def test_an_offer_that_is_rejected_or_expires_gives_its_hosts_back(core: Any) -> None:
    core.offers.reject({}, core.leases.offer({}, _reservation(core, 2))["lease_id"])
    offer = core.leases.offer({}, _reservation(core, 2))
    core.pass_to(offer["expires_at"])
    assert core.site.engine.lease(offer["lease_id"]) is None
    assert core.quotes.quote({}, _reservation(core, 2))["granted"]


def test_a_repeated_offer_is_the_same_offer(core: Any) -> None:
    document = _reservation(core, request_digest="one")
    first = core.leases.offer({}, document)
    assert core.leases.offer({}, document) == first
    with pytest.raises(RefusedError) as caught:
        core.leases.offer({}, {**document, "request_digest": "other"})
    assert (caught.value.code, caught.value.reason) == (409, RefusalReason.ID_TAKEN)
    core.offers.reject({}, first["lease_id"])
    with pytest.raises(RefusedError, match="has ended") as caught:
        core.leases.offer({}, document)
    assert (caught.value.code, caught.value.reason) == (409, RefusalReason.ID_TAKEN)


def test_a_request_that_was_given_up_is_refused_when_it_arrives(core: Any) -> None:
    document = _reservation(core)
    for _ in range(2):
        core.leases.withdraw({"project_id": "project"}, document["id"])
    for make in (core.leases.create, core.leases.offer):
        with pytest.raises(RefusedError, match="was given up") as caught:
            make({}, document)
        assert (caught.value.code, caught.value.field, caught.value.reason) == (409, "id", RefusalReason.ID_TAKEN)
    assert core.leases.create({}, _reservation(core, 2))


def test_a_lease_that_lives_is_ended_and_not_given_up(core: Any) -> None:
    document = _reservation(core)
    core.leases.create({}, document)
    with pytest.raises(RefusedError, match="end the lease instead") as caught:
        core.leases.withdraw({"project_id": "project"}, document["id"])
    assert caught.value.code == 409
    core.leases.end({}, document["id"])
    assert core.leases.withdraw({"project_id": "project"}, document["id"]) == {}


@pytest.mark.parametrize(("seconds", "held"), [(60, 60), (10 * HOUR, 300)])
def test_an_offer_ends_when_its_project_says_so_at_the_latest(core: Any, seconds: int, held: int) -> None:
    now = core.clock.now()
    assert core.leases.offer({}, _reservation(core, expires_at=now + seconds))["expires_at"] == now + held


def test_an_offer_that_would_have_ended_is_refused(core: Any) -> None:
    document = _reservation(core, expires_at=core.clock.now())
    with pytest.raises(RefusedError, match="expires_at: has passed") as caught:
        core.leases.offer({}, document)
    assert (caught.value.code, caught.value.field) == (400, "expires_at")
    assert document["id"] not in core.site.work.documents


def test_an_offer_with_other_terms(core: Any) -> None:
    lease_id = core.leases.offer({}, _reservation(core))["lease_id"]
    start = core.lease(lease_id).holdings[0].run_start + HOUR
    core.offers.counter({}, lease_id, {"start": start, "end": start + HOUR})
    assert (core.lease(lease_id).is_offered, core.lease(lease_id).holdings[0].run_start) == (True, start)


def test_an_end_before_its_time_is_planned_at_once(core: Any, store: Any) -> None:
    lease_id = core.ask("best-effort", start=None)
    core.leases.end({}, lease_id)
    assert store.commits[-1].leases[lease_id].state is not LeaseState.SCHEDULED
    with pytest.raises(RefusedError, match="there is no live lease nothing"):
        core.leases.end({}, "nothing")


def test_projects_may_move_away_from_hosts_of_theirs_only(core: Any) -> None:
    lease_id = core.ask()
    (host,) = core.lease(lease_id).holdings[0].hosts
    own, other = ("1", "2") if host == 1 else ("2", "1")
    with pytest.raises(RefusedError, match=f"the lease is not on host {other}"):
        core.leases.move({}, lease_id, [other])
    with pytest.raises(RefusedError, match=f"the lease is not on host {other}"):
        core.leases.move({}, lease_id, [own, other])
    with pytest.raises(RefusedError, match="there is no host 9 in the pool"):
        core.leases.move({"sees_site": True}, lease_id, ["9"])
    core.leases.move({}, lease_id, [own])
    assert host not in core.lease(lease_id).holdings[0].hosts


def test_availability(core: Any) -> None:
    core.ask(count=2)
    now = core.clock.now()
    query = {"nodes": {"resources": {"VCPU": 8}}, "start": now, "end": now + 4 * HOUR, "duration": HOUR, "count": 1}
    found = core.quotes.availability({}, query)
    assert found["earliest"] == now
    starts = [(each["start"], each["end"]) for each in found["windows"]]
    assert starts
    assert all(end <= now + HOUR or start >= now + 2 * HOUR for start, end in starts)


def test_what_an_elastic_lease_was_granted_stays_with_it(core: Any, store: Any) -> None:
    """shirako F21, F71: the size is decided once; the document keeps what was asked for."""
    nodes = {"count": 1, "resources": {"VCPU": 8}, "least_resources": {"VCPU": 3}}
    now = core.clock.now()

    def document(name: str) -> dict[str, Any]:
        made = _reservation(core)
        made["reservations"][0] |= {"nodes": [nodes]}
        return {**made, "name": name}

    most = lease_document("most", "reservation", 3, start=now, end=now + 10 * HOUR)
    most["reservations"][0]["vcpus"] = 4
    core.leases.create({}, most)
    assert core.quotes.quote({}, document("asks"))["nodes"] == [{"count": 1, "resources": {"VCPU": 4}}]
    lease_id = core.leases.create({}, document("gets"))["lease_id"]
    (granted,) = core.lease(lease_id).request.nodes
    assert (granted.resources["VCPU"], granted.least_resources) == (4, None)
    kept = core.site.work.documents[lease_id].reservations[0].terms["nodes"][0]
    assert (kept["resources"], kept["least_resources"]) == ({"VCPU": 8}, {"VCPU": 3})
    end = core.lease(lease_id).holdings[0].run_end
    core.leases.update({}, lease_id, {"end": end + HOUR})
    assert core.lease(lease_id).request.nodes == (granted,)


def _entries(store: Any, lease_id: str) -> list[tuple[str, str | None]]:
    """Return the reasons in the history of a lease, and who asked."""
    entries = [each for changes in store.commits for each in changes.transitions if each.lease_id == lease_id]
    return [(each.reason, None if each.actor is None else each.actor.user_id) for each in entries]


def test_the_history_has_every_change_and_who_asked_for_it(core: Any, store: Any) -> None:
    """Also what changes no state: hold, acceptance, another end, another name."""
    ada = {"user_id": "ada", "project_id": "physics"}
    document = _reservation(core)
    held = core.leases.offer(ada, document)
    lease_id = held["lease_id"]
    core.offers.accept({**ada, "user_id": "bob"}, lease_id)
    core.leases.update(ada, lease_id, {"end": document["end"] + HOUR})
    core.leases.update(ada, lease_id, {"name": "another"})
    core.leases.update(ada, lease_id, {"name": "another"})
    entries = _entries(store, lease_id)
    assert {by for _, by in entries} == {"ada", "bob"}
    said = [(reason.split(" 1970")[0], by) for reason, by in entries]
    assert said[-4:] == [
        ("held for its project until", "ada"),
        ("accepted", "bob"),
        ("changed: end", "ada"),
        ("changed: name another (was a lease)", "ada"),
    ]


def test_what_happens_by_itself_was_asked_for_by_nobody(core: Any, store: Any) -> None:
    document = _reservation(core)
    lease_id = core.leases.create({"user_id": "ada", "project_id": "physics"}, document)["lease_id"]
    asked = len(_entries(store, lease_id))
    for instant in (document["start"], document["end"]):
        core.pass_to(instant)
        # What the cloud has done meanwhile is taken up by the next step.
        core.pass_to(instant + 1)
    later = _entries(store, lease_id)[asked:]
    assert later
    assert {by for _, by in later} == {None}
