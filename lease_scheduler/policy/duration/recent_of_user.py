"""Expected durations by the project's last run times."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.duration.run_times import complete_run_time, rest_of
from lease_scheduler.policy.outcomes import Outcome


class RecentOfUser(DurationPolicy):
    """Expects a lease to run for the mean of the last run times of its project.

    Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates",
    IEEE TPDS 18(6), 2007, section 4. ``duration_recent`` (2) is how many run times count. While none is known of a
    project, its request is believed.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._count = options.integer("duration_recent", 2)
        if self._count < 1:
            raise InvalidValueError("policy option duration_recent", f"must be at least 1, not {self._count}")
        self._recent: dict[str, tuple[int, ...]] = {}
        self._changed: dict[str, None] = {}

    def expected(self, lease: Lease) -> int:
        """See ``ExpectedDuration.expected``."""
        recent = self._recent.get(lease.request.user or "")
        return rest_of(sum(recent) / len(recent), lease) if recent else lease.remaining

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        seconds = complete_run_time(outcome, lease)
        if seconds is None:
            return
        user = lease.request.user or ""
        self._recent[user] = (*self._recent.get(user, ()), seconds)[-self._count :]
        self._changed[user] = None

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, {}
        return {user: {"seconds": list(self._recent[user])} for user in changed}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``. What is damaged, or written by another version, is not used."""
        self._recent = {}
        for user, values in learnt.items():
            try:
                seconds = tuple(int(each) for each in values["seconds"])
            except (KeyError, TypeError, ValueError, OverflowError):
                continue
            if seconds and min(seconds) >= 0:
                self._recent[user] = seconds[-self._count :]
        self._changed = {}
