"""Expected durations by a bound of the project's run times."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED, Lease
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.duration.run_times import complete_run_time, rest_of
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.prediction.bmbp import Bmbp

#: How many run times of a project count.
_WINDOW = 200
#: Subject of the entry for all projects together. No project has an id with a blank.
_SITE = "all projects"
#: Digits of a share that are kept.
_DIGITS = 4


class BmbpDuration(DurationPolicy):
    """Expects a lease to run for an upper bound of what its project uses of the requested time.

    The bound is that of BMBP (Brevik, Nurmi and Wolski, PPoPP 2006): with confidence ``duration_confidence`` (0.95), at
    least the share ``duration_quantile`` (0.75) of the leases end within it. It changes quickly when the project's run
    times do. While too little is known of a project, all projects together count; while too little is known of these,
    the request is believed. Leases without a stated duration teach nothing.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self.quantile: float = options.number("duration_quantile", 0.75)
        self._confidence = options.number("duration_confidence", 0.95)
        for name, value in (("quantile", self.quantile), ("confidence", self._confidence)):
            if not 0 < value < 1:
                raise InvalidValueError(
                    f"policy option duration_{name}", f"must be more than 0 and less than 1, not {value}"
                )
        self._window = max(_WINDOW, self._predictor(None).least)
        self._shares: dict[str, Bmbp] = {}
        self._changed: dict[str, None] = {}

    def expected(self, lease: Lease) -> int:
        """See ``ExpectedDuration.expected``."""
        for subject in (lease.request.user or "", _SITE):
            predictor = self._shares.get(subject)
            share = None if predictor is None else predictor.bound()
            if share is not None:
                return rest_of(share * lease.request.duration, lease)
        return lease.remaining

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        seconds = complete_run_time(outcome, lease)
        if seconds is None or lease.request.duration == UNLIMITED:
            return
        share = round(seconds / max(1, lease.request.duration), _DIGITS)
        for subject in (lease.request.user or "", _SITE):
            if subject not in self._shares:
                self._shares[subject] = self._predictor(self._window)
            self._shares[subject].observe(share)
            self._changed[subject] = None

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, {}
        return {subject: self._shares[subject].state() for subject in changed}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``. What is damaged, or written by another version, is not used."""
        self._shares = {}
        for subject, state in learnt.items():
            predictor = self._predictor(self._window)
            try:
                predictor.restore(state)
            except InvalidValueError:
                continue
            self._shares[subject] = predictor
        self._changed = {}

    def _predictor(self, window: int | None) -> Bmbp:
        return Bmbp(self.quantile, self._confidence, window=window)
