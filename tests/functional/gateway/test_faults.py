"""Members that are away, silent, lie, forget or accept twice, and gateways that work on the same database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.federation.answers import FederationReason, Refusal
from lease_scheduler.federation.asks import lease_id_at
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.events import EndWanted
from lease_scheduler.federation.negotiation.record import Mode, Stage
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.federated import FederatedLease, OutdatedError
from tests.functional.gateway.world import DRIVE_TIME, HOLD, HOSTS, NAMES, Fate, Gateway, KilledError, World


@pytest.fixture(params=Mode)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path / "world", request.param)
    yield found
    found.close()


def _settled(world: World, gateway: Gateway) -> None:
    world.pass_time([gateway], HOLD + 120)


def test_a_member_that_is_away_is_passed_over(world: World) -> None:
    world.moody["north"].is_away = True
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.stage is Stage.PLACED
    assert record.placed is not None
    assert record.placed.member != "north"
    _settled(world, gateway)
    assert world.granted() == [record.placed.member]


def test_what_all_refuse_is_refused_with_all_reasons(world: World) -> None:
    gateway, ask = world.gateway(), world.ask(count=HOSTS + 1)
    found = world.create(gateway, ask)
    assert found.negotiation.stage is Stage.REFUSED
    assert found.lease.state is LeaseState.REJECTED
    for name in NAMES:
        assert f"{name}: " in found.lease.reason
    assert world.living() == []


def test_a_member_that_accepts_without_an_answer_has_the_lease_once(world: World) -> None:
    for moody in world.moody.values():
        moody.is_mute = {Verb.ACCEPT}
    gateway, ask = world.gateway(), world.ask(patience=600)
    found = world.create(gateway, ask)
    assert found.negotiation.stage is Stage.UNSETTLED
    assert "may have granted it" in found.lease.reason
    assert len(world.granted()) == 1
    for moody in world.moody.values():
        moody.is_mute = set()
    _settled(world, gateway)
    record = world.lease(gateway, ask).negotiation
    assert record.placed is not None
    assert world.granted() == [record.placed.member]
    accepted = world.moody[record.placed.member].calls
    assert accepted.count(Verb.ACCEPT) > 1


def test_a_hold_without_an_answer_is_given_back(world: World) -> None:
    world.moody["north"].is_mute = {Verb.HOLD}
    gateway, ask = world.gateway(), world.ask()
    found = world.create(gateway, ask).negotiation
    assert found.placed is not None
    assert found.placed.member != "north"
    assert [name for name, _ in world.living()] == [found.placed.member]


def test_a_member_that_offers_other_terms_gets_nothing(world: World) -> None:
    def later(bid: Any) -> Any:
        return bid if isinstance(bid, Refusal) else replace(bid, start=bid.start + 60, end=bid.end + 60)

    world.moody["north"].answers = {Verb.HOLD: later}
    gateway, ask = world.gateway(), world.ask()
    found = world.create(gateway, ask).negotiation
    attempt = found.attempt("north")
    assert attempt is not None
    assert attempt.refusal is not None
    assert attempt.refusal.reason is FederationReason.CONTRADICTORY
    _settled(world, gateway)
    assert found.placed is not None
    assert [name for name, _ in world.living()] == [found.placed.member]


def test_a_member_that_forgets_a_lease_loses_it_for_its_tenant(world: World) -> None:
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.placed is not None
    moody = world.moody[record.placed.member]
    moody.answers = {
        Verb.SHOW: lambda _: Refusal(moody.name, FederationReason.UNKNOWN, "there is no such lease"),
        Verb.EVENTS: lambda found: replace(found, since=0, transitions=()),
    }
    world.pass_time([gateway], 60)
    lost = world.lease(gateway, ask)
    assert lost.negotiation.stage is Stage.LOST
    assert lost.lease.state is LeaseState.FAILED
    assert "does not know it any more" in lost.lease.reason


def test_leases_of_a_member_out_of_reach_are_unreachable_and_never_lost(world: World) -> None:
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.placed is not None
    world.pass_time([gateway], 60)
    before = world.lease(gateway, ask)
    moody = world.moody[record.placed.member]
    moody.is_away = True
    world.pass_time([gateway], 3_600, 60)
    away = world.lease(gateway, ask)
    assert away.document.unreachable
    assert away.negotiation.stage is Stage.PLACED
    assert away.lease == before.lease
    shown = world.reader.lease(ask.ask_id)
    assert shown is not None
    assert shown["unreachable"] is True
    moody.is_away = False
    world.pass_time([gateway], 300)
    assert not world.lease(gateway, ask).document.unreachable


def test_what_a_member_tells_is_shown(world: World) -> None:
    gateway, ask = world.gateway(), world.ask(kind=LeaseKind.IMMEDIATE)
    world.create(gateway, ask)
    world.pass_time([gateway], 600)
    active = world.lease(gateway, ask)
    assert active.lease.state is LeaseState.ACTIVE
    assert active.lease.started is not None
    world.pass_time([gateway], 2 * 3_600, 60)
    done = world.lease(gateway, ask)
    assert done.lease.state is LeaseState.DONE
    assert done.negotiation.stage is Stage.ENDED
    states = [entry["to"] for entry in world.reader.history(ask.ask_id)]
    assert states.index("active") < states.index("done")


def test_a_lease_that_ends_while_its_member_is_away_ends_there_later(world: World) -> None:
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.placed is not None
    moody = world.moody[record.placed.member]
    moody.is_away = True
    gateway.driver.note(ask.ask_id, lambda _: EndWanted())
    gateway.driver.drive(ask.ask_id)
    assert world.lease(gateway, ask).negotiation.stage is Stage.ENDING
    assert world.granted() == [moody.name]
    moody.is_away = False
    world.pass_time([gateway], 300)
    assert world.living() == []
    assert world.lease(gateway, ask).negotiation.stage is Stage.ENDED


def test_a_member_that_cannot_hold_grants_what_the_others_refuse(world: World) -> None:
    world.moody["south"].cannot = frozenset({Verb.HOLD})
    gateway = world.gateway()
    placed = set()
    for number in range(len(NAMES)):
        record = world.create(gateway, world.ask(number, HOSTS)).negotiation
        assert record.placed is not None
        placed.add(record.placed.member)
    assert placed == set(NAMES)
    assert Verb.SUBMIT in world.moody["south"].calls
    assert Verb.HOLD not in world.moody["south"].calls


def test_two_gateways_make_one_lease_of_one_request(world: World) -> None:
    first, second, ask = world.gateway(), world.gateway(), world.ask()
    first.driver.begin(ask, world.document(ask), None)
    with pytest.raises(OutdatedError):
        second.driver.begin(ask, world.document(ask), None)
    second.driver.drive(ask.ask_id)
    assert world.living() == []
    first.driver.drive(ask.ask_id)
    assert len(world.granted()) == 1


@pytest.mark.parametrize("kill_at", range(4, 16, 2))
def test_a_second_gateway_goes_on_with_what_the_first_one_has_left(world: World, kill_at: int) -> None:
    fate, ask = Fate(kill_at), world.ask(patience=600)
    first, second = world.gateway(fate), world.gateway()
    try:
        world.create(first, ask)
    except KilledError:
        # Not before the calls of the first one would have been over.
        second.driver.drive(ask.ask_id)
        assert world.lease(second, ask).driver not in (None, "gateway.2")
    world.pass_time([second], DRIVE_TIME + HOLD)
    record = world.lease(second, ask).negotiation
    assert record.placed is not None
    assert world.granted() == [record.placed.member]
    assert [name for name, _ in world.living()] == [record.placed.member]


def test_an_end_that_comes_during_a_call_wins(world: World) -> None:
    """Its client ends the lease at another gateway while the first one waits for an answer."""
    first, second, ask = world.gateway(), world.gateway(), world.ask()
    ended: list[FederatedLease] = []

    def end_meanwhile(bid: Any) -> Any:
        if not ended:
            ended.append(second.driver.note(ask.ask_id, lambda _: EndWanted()))
        return bid

    for moody in world.moody.values():
        moody.answers = {Verb.ACCEPT: end_meanwhile}
    world.create(first, ask)
    _settled(world, first)
    assert world.living() == []
    assert world.lease(first, ask).negotiation.stage is Stage.ENDED


def test_two_gateways_side_by_side_divide_the_work(world: World) -> None:
    gateways = [world.gateway(), world.gateway()]
    asks = [world.ask(number, patience=600) for number in range(8)]
    for number, ask in enumerate(asks):
        gateways[number % 2].driver.begin(ask, world.document(ask), None)
    for number, ask in enumerate(asks):
        gateways[(number + 1) % 2].driver.drive(ask.ask_id)
        gateways[number % 2].driver.drive(ask.ask_id)
    world.pass_time(gateways, HOLD + 120)
    stages = [world.lease(gateways[0], ask).negotiation.stage for ask in asks]
    # The three sites have two hosts each.
    assert stages.count(Stage.PLACED) == 6
    assert stages.count(Stage.REFUSED) == 2
    assert len(world.living()) == 6
    known = {lease_id_at(name, ask.ask_id) for name in NAMES for ask in asks}
    assert {lease.lease_id for _, lease in world.living()} <= known
