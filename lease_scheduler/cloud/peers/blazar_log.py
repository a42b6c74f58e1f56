"""What happens to the leases of a site with Blazar, which keeps no history, as its lists show one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from lease_scheduler.cloud.peers.blazar_terms import instant_of
from lease_scheduler.federation.members import Events, MemberTransition
from lease_scheduler.model.states import FINAL_STATES, LeaseState

#: State for each status that tells one. Other statuses are those of a change in progress.
_STATES = {
    "PENDING": LeaseState.READY,
    "STARTING": LeaseState.READY,
    "ACTIVE": LeaseState.ACTIVE,
    "TERMINATING": LeaseState.ACTIVE,
    "TERMINATED": LeaseState.DONE,
    "ERROR": LeaseState.FAILED,
}
#: Number of ended leases, and of transitions, that are remembered.
_MOST = 10_000


class BlazarLog:
    """The transitions of leases, numbered as they are noticed. It begins anew with the process.

    :param clock: returns the present instant, for what Blazar gives no date
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._latest: dict[str, MemberTransition] = {}
        #: Ids that were ended, or given up before there was a lease with them.
        self._ended: dict[str, None] = {}
        self._transitions: list[MemberTransition] = []
        self._dropped = 0

    def follow(self, leases: Iterable[Mapping[str, Any]]) -> None:
        """Notice what has changed.

        :param leases: all leases that the site shows, no two with the same name
        """
        with self._lock:
            shown = {lease["name"]: lease for lease in leases}
            for lease_id, lease in shown.items():
                self._see(lease_id, lease)
            for lease_id in [each for each in self._latest if each not in shown]:
                if self._latest[lease_id].state not in FINAL_STATES:
                    self._note(lease_id, LeaseState.CANCELLED, self._clock(), "it is no longer there")

    def end(self, lease_id: str) -> None:
        """Note that a lease was ended, or a request for one was given up."""
        with self._lock:
            self._ended[lease_id] = None
            while len(self._ended) > _MOST:
                del self._ended[next(iter(self._ended))]
            latest = self._latest.get(lease_id)
            if latest is not None and latest.state not in FINAL_STATES:
                state = LeaseState.DONE if latest.state is LeaseState.ACTIVE else LeaseState.CANCELLED
                self._note(lease_id, state, self._clock(), "ended by its peer")

    def has_ended(self, lease_id: str) -> bool:
        """Return whether a lease was ended, or a request for one was given up, as far back as it is remembered."""
        with self._lock:
            return lease_id in self._ended

    def latest(self, lease_id: str) -> MemberTransition | None:
        """Return the latest transition of a lease, or None if there was never one."""
        with self._lock:
            return self._latest.get(lease_id)

    def after(self, since: int) -> Events:
        """Return the transitions after a number; those that are no longer remembered are reported as lost."""
        with self._lock:
            following = self._dropped + len(self._transitions)
            if since > following or 0 < since < self._dropped:
                return Events(min(since - 1, following))
            first = max(since, self._dropped)
            return Events(since, tuple(self._transitions[first - self._dropped :]))

    def _see(self, lease_id: str, lease: Mapping[str, Any]) -> None:
        state, latest = _STATES.get(lease["status"]), self._latest.get(lease_id)
        before = None if latest is None else latest.state
        if state is None or state is before or before in FINAL_STATES:
            return
        if state is LeaseState.DONE and before is LeaseState.READY:
            # It ran between two lists.
            self._note(lease_id, LeaseState.ACTIVE, instant_of(lease["start_date"]), "")
        dates = {LeaseState.ACTIVE: "start_date", LeaseState.DONE: "end_date", LeaseState.READY: "created_at"}
        date = lease.get(dates.get(state, "updated_at"))
        instant = self._clock() if date is None else instant_of(date)
        self._note(lease_id, state, instant, "Blazar could not serve it" if state is LeaseState.FAILED else "")

    def _note(self, lease_id: str, state: LeaseState, instant: int, reason: str) -> None:
        number = self._dropped + len(self._transitions) + 1
        self._latest[lease_id] = MemberTransition(number, lease_id, instant, state, reason)
        self._transitions.append(self._latest[lease_id])
        if len(self._transitions) > _MOST:
            half = len(self._transitions) // 2
            self._dropped += half
            dropped, self._transitions = self._transitions[:half], self._transitions[half:]
            for each in dropped:
                if each.state in FINAL_STATES:
                    self._latest.pop(each.lease_id, None)
