"""Records and sites that differ, because a database was restored or somebody has interfered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lease_scheduler.federation.answers import FederationReason, Refusal
from lease_scheduler.federation.asks import lease_id_at
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.record import Stage
from lease_scheduler.service.gateway.reconcile import Difference, Problem, reconcile
from tests.functional.gateway.world import Gateway, World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path / "world")
    yield found
    found.close()


def _differences(gateway: Gateway, *, dry_run: bool = False) -> list[Difference]:
    return reconcile(gateway.store, gateway.members, gateway.driver, dry_run=dry_run)


def test_nothing_differs_after_ordinary_work(world: World) -> None:
    gateway = world.gateway()
    for number in range(8):
        world.create(gateway, world.ask(number))
    assert _differences(gateway) == []


def test_a_lease_that_no_record_expects_is_ended(world: World) -> None:
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.placed is not None
    other = "west" if record.placed.member != "west" else "south"
    world.moody[other].inner.submit(ask.passed_on("gateway", other))
    foreign = replace(world.ask(9).terms, lease_id="a lease of somebody else")
    world.moody[other].inner.submit(replace(ask, terms=foreign))
    expected = Difference(Problem.LEFT_OVER, other, ask.ask_id, lease_id_at(other, ask.ask_id))
    assert _differences(gateway, dry_run=True) == [expected]
    assert len(world.living()) == 3
    assert _differences(gateway) == [replace(expected, is_mended=True)]
    assert sorted(lease.lease_id for _, lease in world.living()) == sorted(
        [lease_id_at(record.placed.member, ask.ask_id), "a lease of somebody else"]
    )
    assert _differences(gateway) == []


def test_a_lease_that_its_site_has_forgotten_is_lost(world: World) -> None:
    gateway, ask = world.gateway(), world.ask()
    record = world.create(gateway, ask).negotiation
    assert record.placed is not None
    moody = world.moody[record.placed.member]
    moody.answers = {
        Verb.SHOW: lambda _: Refusal(moody.name, FederationReason.UNKNOWN, "there is no such lease"),
        Verb.EVENTS: lambda found: replace(found, since=0, transitions=()),
    }
    (found,) = _differences(gateway, dry_run=True)
    assert (found.problem, found.member, found.is_mended) == (Problem.UNKNOWN, moody.name, False)
    assert world.lease(gateway, ask).negotiation.stage is Stage.PLACED
    (found,) = _differences(gateway)
    assert found.is_mended
    assert world.lease(gateway, ask).negotiation.stage is Stage.LOST


def test_a_site_that_does_not_answer_is_not_compared(world: World) -> None:
    gateway = world.gateway()
    world.create(gateway, world.ask())
    world.moody["south"].is_away = True
    assert _differences(gateway) == [Difference(Problem.NOT_COMPARED, "south")]
