"""How a simulated cloud deviates from the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lease_scheduler.engine.interfaces import Operation, OperationKind


class Chance(Protocol):
    """Random numbers, such as Python's ``random.Random``."""

    def random(self) -> float:
        """Return a number from 0 to 1, without 1."""
        ...

    def choice(self, seq: Sequence[int], /) -> int:
        """Return one of several numbers, each equally likely."""
        ...


@dataclass(frozen=True)
class HostFailure:
    """An outage of a host.

    :ivar host: host number
    :ivar instant: instant at which the host fails
    :ivar duration: seconds until it is back
    """

    host: int
    instant: int
    duration: int


@dataclass(frozen=True)
class HostOccupation:
    """A time in which servers on a host do not give way to leases.

    :ivar host: host number
    :ivar start: instant at which the servers come
    :ivar end: instant at which they leave
    """

    host: int
    start: int
    end: int


@dataclass(frozen=True)
class CloudBehaviour:
    """Deviations of a simulated cloud from the plan. By default, everything happens exactly as planned.

    :ivar boot_time: seconds that starting the nodes of a lease takes
    :ivar image_bandwidth: Mb/s at which each host without a lease's disk image gets it before the boot; None if every
        host has every image
    :ivar suspend_factor: real time of suspensions, divided by their planned time
    :ivar resume_factor: the same for resumptions
    :ivar stop_factor: the same for shutdowns
    :ivar transfer_factor: the same for moves of memory between hosts
    :ivar spread: durations of operations are multiplied by a number drawn uniformly from (1 - spread) to (1 + spread)
    :ivar boot_failure_probability: share of starts that fail
    :ivar suspend_failure_probability: share of suspensions that fail
    :ivar resume_failure_probability: share of resumptions that fail
    :ivar transfer_failure_probability: share of moves of memory between hosts that fail
    :ivar image_transfer_factor: real time of planned image transfers, divided by their planned time
    :ivar image_transfer_failure_probability: share of planned image transfers that fail
    :ivar host_failures: outages of hosts
    :ivar occupations: times in which leases that should start on a host do not get it
    :ivar measured: kind of operation -> measured seconds, from which the duration of each such operation is drawn, each
        equally likely, in place of all that is said above
    :ivar seed: seed of the random numbers
    """

    boot_time: int = 0
    image_bandwidth: float | None = None
    suspend_factor: float = 1.0
    resume_factor: float = 1.0
    stop_factor: float = 1.0
    transfer_factor: float = 1.0
    spread: float = 0.0
    boot_failure_probability: float = 0.0
    suspend_failure_probability: float = 0.0
    resume_failure_probability: float = 0.0
    transfer_failure_probability: float = 0.0
    image_transfer_factor: float = 1.0
    image_transfer_failure_probability: float = 0.0
    host_failures: tuple[HostFailure, ...] = ()
    occupations: tuple[HostOccupation, ...] = ()
    measured: Mapping[OperationKind, tuple[int, ...]] = field(default_factory=dict)
    seed: int = 0

    def operation_seconds(self, operation: Operation, image_seconds: float, random: Chance) -> int:
        """Return the seconds that an operation really takes.

        :param image_seconds: for starts, the seconds until every host has the image
        """
        measured = self.measured.get(operation.kind)
        if measured:
            return random.choice(measured)
        planned = operation.due - operation.begun
        factor = {
            OperationKind.SUSPEND: self.suspend_factor,
            OperationKind.RESUME: self.resume_factor,
            OperationKind.STOP: self.stop_factor,
            OperationKind.MIGRATE: self.transfer_factor,
        }.get(operation.kind)
        seconds = planned * factor if factor is not None else self.boot_time + image_seconds
        return self._scattered(seconds, random)

    def occupied(self, operation: Operation) -> frozenset[int]:
        """Return the hosts of an operation that are occupied when it begins."""
        wanted = set(operation.assignment) - operation.without
        now = operation.begun
        return frozenset(each.host for each in self.occupations if each.host in wanted and each.start <= now < each.end)

    def transfer_seconds(self, planned: int, random: Chance) -> int:
        """Return the seconds that a planned image transfer really takes."""
        return self._scattered(planned * self.image_transfer_factor, random)

    def transfer_fails(self, random: Chance) -> bool:
        """Draw whether a planned image transfer fails."""
        probability = self.image_transfer_failure_probability
        return probability > 0 and random.random() < probability

    def _scattered(self, seconds: float, random: Chance) -> int:
        if self.spread:
            seconds *= 1 + self.spread * (2 * random.random() - 1)
        return max(0, round(seconds))

    def fails(self, kind: OperationKind, random: Chance) -> bool:
        """Draw whether an operation fails."""
        probability = {
            OperationKind.START: self.boot_failure_probability,
            OperationKind.SUSPEND: self.suspend_failure_probability,
            OperationKind.RESUME: self.resume_failure_probability,
            OperationKind.MIGRATE: self.transfer_failure_probability,
        }.get(kind, 0.0)
        return probability > 0 and random.random() < probability
