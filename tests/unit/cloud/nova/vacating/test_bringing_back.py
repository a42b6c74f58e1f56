"""Servers that are put away and come back, and those that do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.attempts import Attempts
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.options import PATIENCE, RoomOptions
from lease_scheduler.cloud.nova.vacating.preemption import ServerPreemption
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.cloud.nova.vacating.returning import Returning
from lease_scheduler.model.kinds import PreemptionMode
from tests.servers.base import wait_until
from tests.unit.cloud.nova import fakes


class FakeNova:
    """Servers that Nova unshelves, but for those whose command it has lost.

    :ivar lost: id of the server whose command is lost
    """

    def __init__(self) -> None:
        self.lost: str | None = "a"
        self.found = [self._shelved("a"), self._shelved("b")]
        self.servers = Mock(unshelve=self._unshelve, shelve=self._shelve)

    def _shelved(self, server_id: str) -> Any:
        return fakes.server(server_id, None, status="SHELVED_OFFLOADED")

    def _unshelve(self, server: Any) -> None:
        place = [each.id for each in self.found].index(server.id)
        if server.id != self.lost:
            self.found[place] = fakes.server(server.id, "host1")

    def _shelve(self, server: Any) -> None:
        self.found[[each.id for each in self.found].index(server.id)] = self._shelved(server.id)


class Vacating:
    """What puts servers away and brings them back; their attempts are counted in common."""

    def __init__(self, nova: FakeNova, lost: Any = None) -> None:
        nothing: Any = SimpleNamespace()
        throttle = Throttle(per_host=9, in_all=9)
        arrivals = Arrivals(nova, nothing, nothing)
        locks = Locks(nova, nothing)
        given_up = GivenUpRoom(nothing, nothing, locks)
        away = PuttingAway(nova, throttle, nothing, locks, nothing, given_up, RoomOptions())
        attempts = Attempts(arrivals)
        self.preemption = ServerPreemption(nova, nothing, nothing, nothing, away, given_up, attempts, RoomOptions())
        self.returning = Returning(nova, throttle, lost, locks, away, given_up, arrivals, attempts)


def _until_it_fails(vacating: Vacating, nova: FakeNova) -> str:
    try:
        for _ in range(9):
            vacating.returning.bring_back(nova.found, {}, {"host1"})
    except StepFailedError as error:
        return str(error)
    pytest.fail("it goes on for ever")


def _put_away(vacating: Vacating, nova: FakeNova) -> None:
    assert wait_until(lambda: vacating.preemption.put_away(nova.found, PreemptionMode.SHELVE, -1), 5.0)


def test_a_server_does_not_pay_for_the_failures_of_another_one() -> None:
    """Its attempts count for one operation: those of earlier ones, which failed for other reasons, do not."""
    nova = FakeNova()
    vacating = Vacating(nova)
    for _ in range(5):
        assert "server a finds no host" in _until_it_fails(vacating, nova)
        _put_away(vacating, nova)
    nova.lost = None
    assert not vacating.returning.bring_back(nova.found, {}, {"host1"})
    assert vacating.returning.bring_back(nova.found, {}, {"host1"})


def test_a_server_on_no_host_of_its_lease_does_not_keep_it_from_leaving() -> None:
    """It failed on its way to another host, for example, and Nova can do nothing with it."""
    nova = FakeNova()
    found = [fakes.server("a", "elsewhere", status="ERROR"), fakes.server("b", None, status="SHELVED_OFFLOADED")]
    late = PATIENCE * RoomOptions().escalate_after + 1
    assert not Vacating(nova).preemption.put_lease_away(found, ["host1"], PreemptionMode.SHELVE, 0)
    assert Vacating(nova).preemption.put_lease_away(found, ["host1"], PreemptionMode.SHELVE, late)
    with pytest.raises(StepFailedError):
        Vacating(nova).preemption.put_lease_away(found, ["host1", "elsewhere"], PreemptionMode.SHELVE, late)


def test_every_operation_makes_all_its_attempts() -> None:
    nova = FakeNova()
    vacating = Vacating(nova)
    # It was told to come back twice when the operation was cancelled.
    for _ in range(2):
        assert not vacating.returning.bring_back(nova.found, {}, {"host1"})
    _put_away(vacating, nova)
    for _ in range(3):
        assert not vacating.returning.bring_back(nova.found, {}, {"host1"})
    assert "server a finds no host" in _until_it_fails(vacating, nova)


def test_a_server_whose_hypervisor_hangs_is_not_reset_for_ever() -> None:
    nova = FakeNova()
    hung = fakes.server("a", "host1", status="SHUTOFF")
    setattr(hung, "OS-EXT-STS:task_state", "powering-on")
    nova.found = [hung]
    lost = SimpleNamespace(repair=lambda server: True)
    assert "server a does not come back" in _until_it_fails(Vacating(nova, lost), nova)
    assert nova.servers.reboot.call_count == 3
