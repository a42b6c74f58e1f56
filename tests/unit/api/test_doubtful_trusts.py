"""Trusts of requests whose outcome is not known."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from lease_scheduler.api.doubtful_trusts import DoubtfulTrusts


class World:
    """A database and an identity service.

    :ivar now: seconds
    :ivar of_leases: trusts that leases have
    :ivar deleted: trusts that were deleted
    :ivar answers: whether the database answers
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.of_leases = {"kept"}
        self.deleted: list[str] = []
        self.answers = True
        self.doubtful = DoubtfulTrusts(self._known, self.deleted.append, lambda: self.now)

    def _known(self, trusts: Collection[str]) -> set[str]:
        if not self.answers:
            raise ConnectionError
        return self.of_leases & set(trusts)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("lease_scheduler.worker.Worker.start", lambda worker: None)
    return World()


def test_a_trust_is_deleted_once_it_is_certain_that_no_lease_has_it(world: World) -> None:
    world.doubtful.add(["kept", "left"])
    assert world.doubtful.decide() == 180
    world.now = 179
    assert world.doubtful.decide() == 1
    assert world.deleted == []
    world.now = 180
    assert world.doubtful.decide() is None
    assert world.deleted == ["left"]


def test_nothing_is_decided_while_the_database_does_not_answer(world: World) -> None:
    world.doubtful.add(["kept", "left"])
    world.now, world.answers = 200, False
    with pytest.raises(ConnectionError):
        world.doubtful.decide()
    assert world.deleted == []
    world.answers = True
    assert world.doubtful.decide() is None
    assert world.deleted == ["left"]


def test_each_trust_is_decided_once(world: World) -> None:
    world.doubtful.add(["left"])
    world.now = 180
    world.doubtful.decide()
    world.doubtful.decide()
    assert world.deleted == ["left"]
