"""Kinds of requests: those that need the same, apart from the number of their nodes and their duration."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.duration.counted import CountedDurations

#: Number of kinds that are remembered; it is limited because a service runs for years.
_MOST_REMEMBERED = 10_000


class Kinds:
    """Numbers of kinds. Requests with the same number are of the same kind."""

    def __init__(self, durations: CountedDurations) -> None:
        self._durations = durations
        self._known: dict[Hashable, int] = {}
        self._next = 0

    def of(self, request: LeaseRequest) -> int:
        """Return the number of the kind of a request."""
        needed = self._needed(request)
        found = self._known.get(needed)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            found = self._known[needed] = self._next
            self._next += 1
        return found

    def _needed(self, request: LeaseRequest) -> Hashable:
        nodes: Hashable = request.nodes
        if len(request.nodes) == 1:
            nodes = replace(request.nodes[0].with_count(1), boots=())
        # An estimate of a duration does not say for how long hosts have to be free.
        is_estimated = self._durations.of_request(request) != request.duration
        uncounted = request.duration if is_estimated else None
        return nodes, request.software, request.preemptible, request.preemption_mode, uncounted
