"""A gateway is killed at every boundary of the life of a lease; another one goes on with what is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.negotiation.events import ChangeWanted, EndWanted
from lease_scheduler.federation.negotiation.record import Mode, Stage
from lease_scheduler.model.states import LeaseState
from tests.functional.gateway.world import DRIVE_TIME, HOLD, HOUR, MAPPED, Fate, Gateway, KilledError, World

Step = Callable[[World, Gateway, Ask], None]


def _create(world: World, gateway: Gateway, ask: Ask) -> None:
    world.create(gateway, ask)


def _change(world: World, gateway: Gateway, ask: Ask) -> None:
    record = gateway.driver.lease(ask.ask_id).negotiation
    if record.stage is Stage.PLACED:
        terms = replace(record.ask.terms, duration=3 * HOUR)
        gateway.driver.note(ask.ask_id, lambda _: ChangeWanted(terms))
    gateway.driver.drive(ask.ask_id)


def _end(world: World, gateway: Gateway, ask: Ask) -> None:
    gateway.driver.note(ask.ask_id, lambda _: EndWanted())
    gateway.driver.drive(ask.ask_id)


_STEPS: tuple[Step, ...] = (_create, _change, _end)


def _lived(world: World, kill_at: int | None, patience: int) -> int:
    """Let a lease live, with a kill at a boundary, and return the number of boundaries.

    :param patience: seconds within which the client wants an answer to its request
    """
    fate = Fate(kill_at)
    gateway, is_killed = world.gateway(fate), False
    for step in _STEPS:
        ask = world.ask(patience=patience)
        try:
            step(world, gateway, ask)
            assert len(world.granted()) <= 1
            world.pass_time([gateway], HOLD + 120, 30)
        except KilledError:
            is_killed = True
            assert len(world.granted()) <= 1
            # Another process goes on when the calls of this one would have been over, and the client asks again.
            gateway = world.gateway()
            world.pass_time([gateway], DRIVE_TIME + 20, 20)
            step(world, gateway, world.ask(patience=patience))
            assert len(world.granted()) <= 1
            world.pass_time([gateway], HOLD + 120, 30)
        record = world.lease(gateway, ask).negotiation
        if record.stage is Stage.REFUSED:
            # Its client had no patience to wait for the other process.
            assert is_killed
            assert patience <= DRIVE_TIME
            assert record.is_over
            assert world.living() == []
            return fate.passed
        if step is _end:
            assert world.living() == []
            assert record.is_over
            assert record.stage is Stage.ENDED
            continue
        ((site, lease),) = world.living()
        assert record.stage is Stage.PLACED
        assert record.placed is not None
        assert (record.placed.member, lease_id_at(site, ask.ask_id)) == (site, lease.lease_id)
        assert not lease.is_offered
        assert lease.request.user == f"project at {site}"
        expected = 3 * HOUR if step is _change else 2 * HOUR
        assert (lease.request.duration, record.ask.terms.duration) == (expected, expected)
        shown = world.reader.lease(ask.ask_id)
        assert shown is not None
        assert (shown["site"], shown["site_lease_id"], shown["state"]) == (site, lease.lease_id, lease.state.value)
        assert shown["site_project_id"] == lease.request.user
        assert shown["end"] == shown["start"] + expected
    assert is_killed == (kill_at is not None)
    states = [entry["to"] for entry in world.reader.history(ask.ask_id)]
    assert states[0] == LeaseState.PENDING.value
    assert states[-1] == LeaseState.CANCELLED.value
    return fate.passed


#: Seconds within which the client wants an answer -> distance of the boundaries at which the gateway is killed.
_PATIENCE = {600: 1, 60: 3}


@pytest.mark.parametrize("patience", _PATIENCE)
@pytest.mark.parametrize("mode", Mode)
def test_nothing_is_double_or_lost_whenever_the_gateway_is_killed(tmp_path: Path, mode: Mode, patience: int) -> None:
    world = World(tmp_path / "whole", mode, MAPPED)
    boundaries = _lived(world, None, patience)
    world.close()
    assert boundaries > 20
    for number in range(0, boundaries, _PATIENCE[patience]):
        world = World(tmp_path / f"killed-{number}", mode, MAPPED)
        _lived(world, number, patience)
        world.close()
