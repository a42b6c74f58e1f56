"""Members that answer late, with calls that are made at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.record import Mode, Negotiation, Stage
from lease_scheduler.service.gateway.calling import Threads
from tests.functional.gateway.world import HOLD, NAMES, Gateway, World

_LIMIT = 60.0


class Slow:
    """Members that do what they are asked for one call at a time, and some of whose answers wait to be let go."""

    def __init__(self, world: World, *names: str) -> None:
        self.go_on = Event()
        one_at_a_time = Lock()
        for name, moody in world.moody.items():
            moody.inner = _Waiting(moody.inner, one_at_a_time, self.go_on if name in names else None)  # type: ignore[assignment]


class _Waiting:
    def __init__(self, inner: Any, lock: Lock, go_on: Event | None) -> None:
        self._inner = inner
        self._lock = lock
        self._go_on = go_on

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            with self._lock:
                answer = getattr(self._inner, name)(*arguments)
            if name == Verb.HOLD.value and self._go_on is not None:
                assert self._go_on.wait(_LIMIT)
            return answer

        return call


def _is_decided(record: Negotiation) -> bool:
    return record.placed is not None


def _started(world: World) -> Gateway:
    return world.gateway(make_hands=partial(Threads, 8, "call"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path / "world", Mode.FIRST)
    yield found
    found.close()


def test_the_first_acceptance_does_not_wait_for_slow_members(world: World) -> None:
    slow, ask = Slow(world, "north"), world.ask()
    gateway = _started(world)
    gateway.driver.begin(ask, world.document(ask), None)
    found = gateway.driver.wait(ask.ask_id, world.clock.now() + 60, _is_decided).negotiation
    assert found.placed is not None
    assert found.placed.member != "north"
    slow.go_on.set()
    world.pass_time([gateway], HOLD + 120, 30)
    assert [name for name, _ in world.living()] == [found.placed.member]
    assert gateway.driver.lease(ask.ask_id).negotiation.stage is Stage.PLACED
    gateway.members.end()


def test_a_client_gets_an_answer_in_time_though_no_member_answers(world: World) -> None:
    slow, ask = Slow(world, *NAMES), world.ask(patience=600)
    gateway = _started(world)
    gateway.driver.begin(ask, world.document(ask), None)
    found = gateway.driver.wait(ask.ask_id, world.clock.now(), _is_decided)
    assert found.negotiation.placed is None
    slow.go_on.set()
    world.pass_time([gateway], HOLD + 120, 30)
    record = gateway.driver.lease(ask.ask_id).negotiation
    assert record.is_over
    assert world.living() == []
    gateway.members.end()
