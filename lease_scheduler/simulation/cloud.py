"""Cloud in memory for the simulator: it does what it is told, with the configured deviations (haizea F39, F18)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from heapq import heappop, heappush
from random import Random

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import UNAWAITED, CloudEvent, EventKind, Operation, OperationKind
from lease_scheduler.model.progress import FULL
from lease_scheduler.model.transfer import Transfer

#: Operations whose hosts may be occupied by others.
_TAKING_HOSTS = frozenset({OperationKind.START, OperationKind.RESUME})


class InMemoryCloud:
    """Carries out operations in simulated time. It knows what the planner must not: how long the work really takes.

    :param behaviour: how it deviates from the plan
    :param real_durations: lease id -> seconds of work; leases that are not in it use all the time they get
    """

    def __init__(self, behaviour: CloudBehaviour, real_durations: Mapping[str, int]) -> None:
        self._behaviour = behaviour
        self._real_durations = real_durations
        self._random = Random(behaviour.seed)
        self._events: list[tuple[int, int, int, CloudEvent]] = []
        self._sequence = 0
        self._turn: dict[str, int] = {}
        # Leases that run without some of their hosts.
        self._incomplete: set[str] = set()
        # Work in ms of servers that have all the CPU that they need, and yields in thousandths.
        self._work_done: dict[str, int] = {}
        self._yields: dict[str, int] = {}
        # Lease -> number of the event that is the end of its work.
        self._ends: dict[str, int] = {}
        self._working_since: dict[str, int] = {}
        # Host -> image -> instant from which the host has it.
        self._images: defaultdict[int, dict[str, float]] = defaultdict(dict)
        for failure in behaviour.host_failures:
            self._push(CloudEvent(EventKind.HOST_DOWN, failure.instant, host=failure.host), 0)
            self._push(CloudEvent(EventKind.HOST_UP, failure.instant + failure.duration, host=failure.host), 0)

    def begin(self, operation: Operation) -> None:
        """Carry out an operation. Its result is an event at its end."""
        lease_id = operation.lease_id
        if operation.kind in UNAWAITED:
            # The work of the lease goes on meanwhile.
            self._adjust(operation)
            return
        turn = self._turn[lease_id] = self._turn.get(lease_id, 0) + 1
        over = operation.begun + self._behaviour.operation_seconds(operation, self._image_time(operation), self._random)
        if operation.kind in (OperationKind.SUSPEND, OperationKind.STOP):
            self._stop_working(lease_id, operation.begun)
        if operation.without:
            self._incomplete.add(lease_id)
        occupied = self._behaviour.occupied(operation) if operation.kind in _TAKING_HOSTS else frozenset()
        if occupied:
            self._push(CloudEvent(EventKind.FAILED, over, lease_id, reason="others", occupied=occupied), turn)
            return
        # An operation without nodes cannot fail.
        if operation.assignment and self._behaviour.fails(operation.kind, self._random):
            host = operation.assignment[self._random.randrange(len(operation.assignment))]
            reason = f"{operation.kind.value} failed on host {host}"
            self._push(CloudEvent(EventKind.FAILED, over, lease_id, host, reason), turn)
            return
        self._push(CloudEvent(EventKind.COMPLETED, over, lease_id), turn)
        if operation.kind in (OperationKind.START, OperationKind.RESUME):
            # A lease that is started or resumed early works from the planned instant only.
            self._work_from(lease_id, max(over, operation.due), turn)

    def _work_from(self, lease_id: str, since: int, turn: int) -> None:
        """Continue the work of a lease from an instant on."""
        self._working_since[lease_id] = since
        real, permille = self._real_durations.get(lease_id), self._yields.get(lease_id, FULL)
        # The end that was expected before is void.
        self._ends.pop(lease_id, None)
        if real is not None and permille:
            left = max(0, FULL * real - self._work_done.get(lease_id, 0))
            self._push(CloudEvent(EventKind.ENDED, since - -left // permille, lease_id), turn)
            self._ends[lease_id] = self._sequence

    def share(self, yields: Mapping[str, int], now: int) -> None:
        """Let the servers of fluid leases work as fast as their yields allow.

        :param yields: lease -> its yield in thousandths; leases that are absent have all the CPU that they need
        """
        for lease_id in sorted({*yields, *self._yields}):
            permille = yields.get(lease_id, FULL)
            if permille == self._yields.get(lease_id, FULL):
                continue
            since = self._working_since.get(lease_id)
            if since is not None:
                self._stop_working(lease_id, now)
            self._yields[lease_id] = permille
            if since is not None:
                self._work_from(lease_id, max(since, now), self._turn[lease_id])
        self._yields = dict(yields)

    def _adjust(self, operation: Operation) -> None:
        """Report whether a running lease gets the hosts of a change."""
        lease_id, now, occupied = operation.lease_id, operation.begun, self._behaviour.occupied(operation)
        turn = self._turn.get(lease_id, 0)
        if occupied:
            self._push(CloudEvent(EventKind.FAILED, now, lease_id, reason="others", occupied=occupied), turn)
        elif operation.without:
            self._incomplete.add(lease_id)
        elif self._behaviour.occupations or lease_id in self._incomplete:
            self._incomplete.discard(lease_id)
            self._push(CloudEvent(EventKind.ADJUSTED, now, lease_id), turn)

    def bring(self, transfer: Transfer, now: int) -> None:
        """Transfer a disk image to hosts. Its end is an event."""
        over = now + self._behaviour.transfer_seconds(transfer.end - now, self._random)
        fails = self._behaviour.transfer_fails(self._random)
        kind = EventKind.FAILED if fails else EventKind.COMPLETED
        for host in () if fails else transfer.hosts:
            self._images[host].setdefault(transfer.image.image_id, over)
        reason = f"the transfer of image {transfer.image.image_id} broke off" if fails else ""
        self._push(CloudEvent(kind, over, reason=reason, transfer=transfer.number), 0)

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy the servers of a lease and their saved state."""
        self._turn[lease_id] = self._turn.get(lease_id, 0) + 1
        self._work_done.pop(lease_id, None)
        self._working_since.pop(lease_id, None)

    def take_events(self, now: int) -> list[CloudEvent]:
        """Return the events up to now that were not taken yet."""
        taken: list[CloudEvent] = []
        while self._events and self._events[0][0] <= now:
            _, number, turn, event = heappop(self._events)
            if self._counts(event, number, turn):
                taken.append(event)
                if event.kind is EventKind.ENDED and event.lease_id in self._yields:
                    # A later change of its yield must not end it again.
                    self._stop_working(event.lease_id, now)
        return taken

    def next_event(self) -> int | None:
        """Return the instant of the next event, or None."""
        while self._events:
            instant, number, turn, event = self._events[0]
            if self._counts(event, number, turn):
                return instant
            heappop(self._events)
        return None

    def _counts(self, event: CloudEvent, number: int, turn: int) -> bool:
        """Return whether an event is still valid: no later operation or change of the yield has made it void."""
        if event.lease_id is None:
            return True
        is_end = event.kind is EventKind.ENDED
        return self._turn.get(event.lease_id) == turn and (not is_end or self._ends.get(event.lease_id) == number)

    def _push(self, event: CloudEvent, turn: int) -> None:
        self._sequence += 1
        heappush(self._events, (event.instant, self._sequence, turn, event))

    def _stop_working(self, lease_id: str, now: int) -> None:
        since = self._working_since.pop(lease_id, now)
        done = max(0, now - since) * self._yields.get(lease_id, FULL)
        self._work_done[lease_id] = self._work_done.get(lease_id, 0) + done

    def _image_time(self, operation: Operation) -> float:
        """Return the seconds until every host of a boot has the image, which stays there."""
        image, bandwidth = operation.image, self._behaviour.image_bandwidth
        if image is None or bandwidth is None or operation.kind is not OperationKind.START:
            return 0
        now = operation.begun
        fetched = now + image.size_mb * 8 / bandwidth
        longest = 0.0
        for host in set(operation.assignment):
            # A boot waits for a transfer of the same image that is under way.
            there = min(fetched, self._images[host].get(image.image_id, fetched))
            self._images[host][image.image_id] = there
            longest = max(longest, there - now)
        return longest
