"""The simulated cloud: does what it is told, and deviates from it as configured (haizea F39, F18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Operation, OperationKind


@dataclass(frozen=True)
class HostFailure:
    """A host that goes down.

    :ivar host: host number
    :ivar instant: when it dies
    :ivar duration: after how many seconds it is back
    """

    host: int
    instant: int
    duration: int


@dataclass(frozen=True)
class CloudBehaviour:
    """How a simulated cloud differs from the plan. The default does everything exactly as planned.

    :ivar boot_time: seconds that starting the VMs of a lease takes
    :ivar image_bandwidth: Mb/s at which hosts that do not have a lease's disk image yet get it before the boot, all
        at once;
        none if every image is everywhere
    :ivar suspend_factor: real over planned suspension time
    :ivar resume_factor: real over planned resumption time
    :ivar stop_factor: real over planned shutdown time
    :ivar transfer_factor: real over planned time to move memory between hosts
    :ivar spread: operation times are drawn uniformly from (1 - spread) to (1 + spread) times what they would be
    :ivar boot_failure_probability: share of starts that fail
    :ivar resume_failure_probability: share of resumptions that fail
    :ivar host_failures: hosts that die
    :ivar seed: of the random numbers
    """

    boot_time: int = 0
    image_bandwidth: float | None = None
    suspend_factor: float = 1.0
    resume_factor: float = 1.0
    stop_factor: float = 1.0
    transfer_factor: float = 1.0
    spread: float = 0.0
    boot_failure_probability: float = 0.0
    resume_failure_probability: float = 0.0
    host_failures: tuple[HostFailure, ...] = ()
    seed: int = 0


class SimulatedCloud:
    """Carries out operations in simulated time, and knows what planning must not know: how long the work really takes.

    :param behaviour: how it deviates from the plan
    :param real_durations: seconds after which a lease's work is over, by lease id; leases that are not in it use all
        they get
    """

    def __init__(self, behaviour: CloudBehaviour, real_durations: Mapping[str, int]) -> None:
        self._behaviour = behaviour
        self._real_durations = real_durations
        self._random = Random(behaviour.seed)
        self._events: list[tuple[int, int, int, CloudEvent]] = []
        self._sequence = 0
        self._turn: dict[str, int] = {}
        self._work_done: dict[str, int] = {}
        self._working_since: dict[str, int] = {}
        self._images: defaultdict[int, set[str]] = defaultdict(set)
        for failure in behaviour.host_failures:
            self._push(CloudEvent(EventKind.HOST_DOWN, failure.instant, host=failure.host), 0)
            self._push(CloudEvent(EventKind.HOST_UP, failure.instant + failure.duration, host=failure.host), 0)

    def begin(self, operation: Operation) -> None:
        """Carry out an operation; its result is reported when it is over."""
        lease_id = operation.lease_id
        turn = self._turn[lease_id] = self._turn.get(lease_id, 0) + 1
        over = operation.begun + self._duration(operation)
        if operation.kind in (OperationKind.SUSPEND, OperationKind.STOP):
            self._stop_working(lease_id, operation.begun)
        if self._fails(operation.kind):
            host = operation.assignment[self._random.randrange(len(operation.assignment))]
            reason = f"{operation.kind.value} failed on host {host}"
            self._push(CloudEvent(EventKind.FAILED, over, lease_id, host, reason), turn)
            return
        self._push(CloudEvent(EventKind.COMPLETED, over, lease_id), turn)
        if operation.kind in (OperationKind.START, OperationKind.RESUME):
            # Memory that is back before its time is of no use before the planned instant.
            since = max(over, operation.due)
            self._working_since[lease_id] = since
            real = self._real_durations.get(lease_id)
            if real is not None:
                left = max(0, real - self._work_done.get(lease_id, 0))
                self._push(CloudEvent(EventKind.ENDED, since + left, lease_id), turn)

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy the lease's VMs and all that was saved of them."""
        self._turn[lease_id] = self._turn.get(lease_id, 0) + 1
        self._work_done.pop(lease_id, None)
        self._working_since.pop(lease_id, None)

    def take_events(self, now: int) -> list[CloudEvent]:
        """What happened up to now and was not taken yet."""
        taken: list[CloudEvent] = []
        while self._events and self._events[0][0] <= now:
            _, _, turn, event = heappop(self._events)
            if event.lease_id is None or self._turn.get(event.lease_id) == turn:
                taken.append(event)
        return taken

    def next_event(self) -> int | None:
        """When something will happen next, none if nothing will."""
        while self._events:
            instant, _, turn, event = self._events[0]
            if event.lease_id is None or self._turn.get(event.lease_id) == turn:
                return instant
            heappop(self._events)
        return None

    def _push(self, event: CloudEvent, turn: int) -> None:
        self._sequence += 1
        heappush(self._events, (event.instant, self._sequence, turn, event))

    def _stop_working(self, lease_id: str, now: int) -> None:
        since = self._working_since.pop(lease_id, now)
        self._work_done[lease_id] = self._work_done.get(lease_id, 0) + max(0, now - since)

    def _duration(self, operation: Operation) -> int:
        behaviour = self._behaviour
        planned = operation.due - operation.begun
        factor = {
            OperationKind.SUSPEND: behaviour.suspend_factor,
            OperationKind.RESUME: behaviour.resume_factor,
            OperationKind.STOP: behaviour.stop_factor,
            OperationKind.MIGRATE: behaviour.transfer_factor,
        }.get(operation.kind)
        seconds = planned * factor if factor is not None else behaviour.boot_time + self._image_time(operation)
        if behaviour.spread:
            seconds *= 1 + behaviour.spread * (2 * self._random.random() - 1)
        return max(0, round(seconds))

    def _image_time(self, operation: Operation) -> float:
        """Seconds until every host of a boot has the image; it stays there."""
        image, bandwidth = operation.image, self._behaviour.image_bandwidth
        if image is None or bandwidth is None:
            return 0
        lacking = [host for host in set(operation.assignment) if image.image_id not in self._images[host]]
        for host in lacking:
            self._images[host].add(image.image_id)
        return image.size_mb * 8 / bandwidth if lacking else 0

    def _fails(self, kind: OperationKind) -> bool:
        probability = {
            OperationKind.START: self._behaviour.boot_failure_probability,
            OperationKind.RESUME: self._behaviour.resume_failure_probability,
        }.get(kind, 0.0)
        return probability > 0 and self._random.random() < probability
