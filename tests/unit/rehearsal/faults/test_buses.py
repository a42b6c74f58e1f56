from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.rehearsal.faults.buses import ManyBrokerFaults
from lease_scheduler.rehearsal.runtime.broker import BrokerFaults, BusMessage
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler


class _Always(BrokerFaults):
    def __init__(self, *delays: float) -> None:
        self._delays = delays

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        return self._delays


def _deliveries(*faults: BrokerFaults) -> Sequence[float]:
    message = BusMessage(1, "queue", Process(Scheduler(1), "engine", "control-1"), "{}")
    return ManyBrokerFaults(faults).deliveries(message)


def test_without_faults_a_message_arrives_once() -> None:
    assert list(_deliveries()) == [0.0]


def test_faults_add_up() -> None:
    assert sorted(_deliveries(_Always(0.0, 5.0), _Always(2.0))) == [2.0, 7.0]


def test_what_is_lost_is_lost() -> None:
    assert not _deliveries(_Always(0.0, 5.0), _Always())
