"""Ids of requests that were given up before they arrived, so that they are refused when they arrive late."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lease_scheduler.records.site_state import WITHDRAWN
from lease_scheduler.records.writes import StoreChanges

#: Seconds for which an id is remembered. No client waits longer for the answer to a request.
LIFETIME = 86_400
#: Number of ids that are remembered for each project.
MOST = 1_000


class WithdrawnIds:
    """Ids of requests that were given up. They are refused to all projects, as ids of leases are.

    :param policy_state: the stored state of policies, which has the ids; what is damaged is not used
    """

    def __init__(self, policy_state: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> None:
        stored = policy_state.get(("", *WITHDRAWN), {})
        self._until: dict[str, tuple[str, int]] = {}
        for lease_id, entry in stored.items():
            with suppress(KeyError, TypeError, ValueError):
                self._until[lease_id] = (str(entry["project_id"]), int(entry["until"]))

    def has(self, lease_id: str, now: int) -> bool:
        """Return whether the request with an id was given up."""
        _, until = self._until.get(lease_id, ("", now))
        return now < until

    def add(self, lease_id: str, project_id: str, now: int, changes: StoreChanges) -> None:
        """Remember an id, and forget those that have expired, and the oldest ones of a project that has too many.

        :param changes: what the transaction writes
        """
        self._until[lease_id] = (project_id, now + LIFETIME)
        own = [(until, each) for each, (by, until) in self._until.items() if by == project_id]
        too_many = {each for _, each in sorted(own)[: max(0, len(own) - MOST)]}
        for each in [each for each, (_, until) in self._until.items() if until <= now or each in too_many]:
            del self._until[each]
            changes.policy_state["", *WITHDRAWN, each] = None
        if lease_id in self._until:
            entry = {"project_id": project_id, "until": now + LIFETIME}
            changes.policy_state["", *WITHDRAWN, lease_id] = entry
