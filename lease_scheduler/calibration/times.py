"""When Nova began and finished an operation, according to its notifications or else to its server actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from threading import Condition
from typing import Any, Protocol

from novaclient.exceptions import NotFound

from lease_scheduler.calibration.samples import MeasuredOperation

#: Seconds to wait for a late notification after the operation is over.
_LATE = 10.0

#: The notifications that a host sends when it begins and when it has finished an operation.
_EVENTS: Mapping[MeasuredOperation, tuple[str, str]] = {
    MeasuredOperation.BOOT: ("instance.create.start", "instance.create.end"),
    MeasuredOperation.SUSPEND: ("instance.suspend.start", "instance.suspend.end"),
    MeasuredOperation.RESUME: ("instance.resume.start", "instance.resume.end"),
    MeasuredOperation.SHELVE: ("instance.shelve.start", "instance.shelve_offload.end"),
    MeasuredOperation.UNSHELVE: ("instance.unshelve.start", "instance.unshelve.end"),
    MeasuredOperation.STOP: ("instance.power_off.start", "instance.power_off.end"),
    MeasuredOperation.START: ("instance.power_on.start", "instance.power_on.end"),
    MeasuredOperation.DELETE: ("instance.delete.start", "instance.delete.end"),
}

_OF_INTEREST = frozenset(event for both in _EVENTS.values() for event in both)

#: Prefix of the events of an action that a compute host carries out.
_OF_COMPUTE = "compute_"

#: Databases that keep whole seconds truncate the fraction.
_SECOND = 1.0


class Times(Protocol):
    """A source of instants."""

    @property
    def name(self) -> str:
        """Name of the source, for operators."""
        ...

    def find(
        self, operation: MeasuredOperation, server_id: str, since: float, requests: Sequence[str]
    ) -> tuple[float, float] | None:
        """Return when a host began and finished an operation, in seconds since the epoch, or None if unknown.

        :param since: when the operation was requested; earlier events belong to another operation
        :param requests: Nova's ids of the requests
        """
        ...


class NotifiedTimes:
    """Instants from the notifications that a ``NotificationListener`` receives.

    :param tolerance: seconds by which the clock of a host may be behind ours
    """

    name = "Nova's notifications"

    def __init__(self, tolerance: float = 0.5) -> None:
        self._tolerance = tolerance
        self._changed = Condition()
        self._heard: dict[str, list[tuple[float, str]]] = {}

    def find(
        self, operation: MeasuredOperation, server_id: str, since: float, requests: Sequence[str]
    ) -> tuple[float, float] | None:
        """See ``Times``; waits some seconds for a late notification."""
        begins, ends = _EVENTS[operation]
        found: list[tuple[float, float]] = []

        def is_told() -> bool:
            heard = [each for each in self._heard.get(server_id, []) if each[0] >= since - self._tolerance]
            begun = [at for at, event in heard if event == begins]
            ended = [at for at, event in heard if event == ends]
            if begun and ended:
                found[:] = [(min(begun), max(ended))]
            return bool(found)

        with self._changed:
            self._changed.wait_for(is_told, _LATE)
        return found[0] if found else None

    # -- called by oslo.messaging ------------------------------------------------------------------------------

    def info(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Record a notification."""
        if event_type not in _OF_INTEREST:
            return
        server_id = payload["nova_object.data"]["uuid"]
        at = datetime.fromisoformat(metadata["timestamp"]).replace(tzinfo=UTC).timestamp()
        with self._changed:
            self._heard.setdefault(server_id, []).append((at, event_type))
            self._changed.notify_all()

    def error(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Ignore a failure, which the status of the server shows."""


class RecordedTimes:
    """Instants from the server actions that Nova keeps, which are exact to the second at best.

    :param nova: novaclient's client of an administrator
    """

    name = "the server actions that Nova keeps, to the second"

    def __init__(self, nova: Any) -> None:
        self._nova = nova

    def find(
        self, operation: MeasuredOperation, server_id: str, since: float, requests: Sequence[str]
    ) -> tuple[float, float] | None:
        """See ``Times``."""
        events = [event for each in requests for event in self._events(server_id, each)]
        ours = [event for event in events if event["event"].startswith(_OF_COMPUTE) and event.get("finish_time")]
        if not ours:
            return None
        begun = min(_instant(event["start_time"]) for event in ours)
        ended = max(_instant(event["finish_time"]) for event in ours)
        # A truncated end is rounded up, so that no duration is too short. No operation begins before its request.
        return max(begun, since), max(ended + (_SECOND if ended == int(ended) else 0.0), since)

    def _events(self, server_id: str, request: str) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = self._nova.instance_action.get(server_id, request).events
        except NotFound:
            return []
        return found


class ChosenTimes:
    """Instants from notifications or, if Nova sends none for the first operation, from server actions.

    The choice holds for all operations. Samples from both sources could not be compared, since server actions are
    exact to the second only.
    """

    def __init__(self, notified: NotifiedTimes, recorded: RecordedTimes) -> None:
        self._notified = notified
        self._recorded = recorded
        self._chosen: Times | None = None

    @property
    def name(self) -> str:
        """See ``Times``."""
        return (self._chosen or self._notified).name

    def find(
        self, operation: MeasuredOperation, server_id: str, since: float, requests: Sequence[str]
    ) -> tuple[float, float] | None:
        """See ``Times``."""
        if self._chosen is not None:
            return self._chosen.find(operation, server_id, since, requests)
        found = self._notified.find(operation, server_id, since, requests)
        if found is not None:
            self._chosen = self._notified
            return found
        found = self._recorded.find(operation, server_id, since, requests)
        if found is not None:
            self._chosen = self._recorded
        return found


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
