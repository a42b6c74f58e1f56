"""Leases that are held until they are approved."""

from __future__ import annotations

import pytest

from lease_scheduler.model.approval import Approval, state_in_words
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, World, request, terms_of

RESERVATION, DEADLINE = LeaseKind.RESERVATION, LeaseKind.DEADLINE


def _asked(world: World, asked: LeaseRequest, hold_time: int = 300) -> Lease:
    world.run.engine.submit(asked, offered_for=hold_time, approval=Approval.AWAITING)
    world.run.engine.step()
    return world[asked.lease_id]


@pytest.mark.parametrize("kind", [RESERVATION, DEADLINE])
def test_an_approved_lease_runs(make_world: MakeWorld, kind: LeaseKind) -> None:
    world = make_world().until(0)
    deadline = {"deadline": 9000} if kind is DEADLINE else {}
    held = _asked(world, request("1", kind, 1, 3600, start=1000, **deadline))
    assert held.awaits_approval and held.offered_until == 300
    assert state_in_words(held.state.value, "awaiting") == "awaiting-approval"
    world.until(200)
    assert world["1"].started is None
    approved = world.run.engine.held.approve("1", "approved: go on")
    assert (approved.approval, approved.is_offered, approved.reason) == (Approval.APPROVED, False, "approved: go on")
    over = world.end()["1"]
    assert (over.state, over.approval, over.accumulated) == (LeaseState.DONE, Approval.APPROVED, 3600)


def test_its_project_neither_accepts_nor_changes_it(make_world: MakeWorld) -> None:
    world = make_world().until(0)
    _asked(world, request("1", RESERVATION, 1, 3600, start=1000))
    engine = world.run.engine
    with pytest.raises(InvalidValueError, match="awaits approval"):
        engine.held.accept("1")
    with pytest.raises(InvalidValueError, match="awaits approval"):
        engine.held.counter("1", terms_of(world, "1", duration=1800))
    engine.submit(request("2", RESERVATION, 1, 60, start=9000), offered_for=300)
    engine.step()
    for decide in (engine.held.approve, engine.held.decline):
        with pytest.raises(InvalidValueError, match="lease 2 does not await approval"):
            decide("2")


def test_however_it_ends_its_hosts_are_free_and_it_is_no_offer_turned_down(make_world: MakeWorld) -> None:
    world = make_world().until(0)
    engine = world.run.engine
    for position, lease_id in enumerate("123"):
        _asked(world, request(lease_id, RESERVATION, 2, 900, start=1000 * (position + 1)))
    engine.held.decline("1", "declined: too long")
    engine.cancel("2")
    world.until(301)
    ended = {lease_id: world[lease_id] for lease_id in "123"}
    assert {lease.state for lease in ended.values()} == {LeaseState.CANCELLED}
    assert [ended[each].approval for each in "123"] == [Approval.DECLINED, Approval.WITHDRAWN, Approval.EXPIRED]
    assert ended["3"].reason == "nobody approved it in time"
    assert engine.live_leases() == []
    assert not any(lease.holdings or lease.is_offered for lease in ended.values())
