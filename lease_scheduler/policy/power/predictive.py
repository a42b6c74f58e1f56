"""As many hosts awake and free as requests at short notice are likely to need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage
from lease_scheduler.policy.site_share import capacity_of, share_of
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.bounds import check_probability, least_count
from lease_scheduler.prediction.hot_spare import HotSpare, SpareRules

#: Bursts are counted in parts of a host.
_PARTS = 1_000
#: Epochs and wake times that are kept.
_EPOCHS, _WAKES = 1_000, 200
_BURSTS, _TIMES = "bursts", "wake times"


class Predictive(PowerPolicy):
    """Keeps a hot spare: free capacity on hosts that are awake, for the next requests (Pucher 2016, section 3.3.4).

    In each epoch the capacity that requests at short notice ask for is added up, refused requests included. What is
    kept free on hosts that are awake is the BMBP bound over the epochs with such requests: with confidence .95, the
    share ``power_quantile`` (0.95) of such epochs find enough. Without any such epoch nothing is kept free. All hosts
    stay awake before ``power_least_epochs`` (60) epochs of ``power_epoch`` seconds (1000) have passed. All leases that
    wait have hosts woken for them, and no lease is preempted because a host sleeps.

    Hosts that leases are planned on wake earlier than the operator's ``wake_time`` says if that bound of their measured
    wake times is longer.

    The last 1,000 bursts and 200 wake times are kept.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._quantile = options.number("power_quantile", 0.95)
        check_probability("policy option power_quantile", self._quantile)
        self._epoch = options.integer("power_epoch", 1_000)
        least = options.integer("power_least_epochs", 60)
        if self._epoch < 1:
            raise InvalidValueError("policy option power_epoch", "must be at least 1")
        most = max(_EPOCHS, least_count(self._quantile, 0.95))
        if not 1 <= least <= most:
            raise InvalidValueError("policy option power_least_epochs", f"must be from 1 to {most}, not {least}")
        self._rules = SpareRules(self._quantile, detect_changes=True, least_epochs=least, most_epochs=most)
        self._window = max(_WAKES, least_count(self._quantile, 0.95))
        self._site: Site | None = None
        self._capacity: dict[str, int] = {}
        self._hosts = 0
        self._forget()

    def _forget(self) -> None:
        self._spare = HotSpare(self._rules)
        self._wakes = Bmbp(self._quantile, window=self._window)
        self._began: int | None = None
        self._changed: set[str] = set()

    # -- decisions -----------------------------------------------------------------------------------------

    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Wake what is missing: no lease is preempted because a host sleeps."""
        return PowerDecision(wake=shortage.missing)

    def for_queue(self, view: PowerView) -> PowerDecision:
        """Wake hosts for all leases that wait."""
        return PowerDecision(wake=sum(each.nodes for each in view.waiting))

    def spare_hosts(self, now: int) -> int | None:
        """See ``PowerPolicy.spare_hosts``."""
        self._pass_to(now)
        if self._spare.is_learning:
            return self._hosts
        return math.ceil((self._spare.cores() or 0) / _PARTS)

    def wake_time(self) -> int:
        """See ``PowerPolicy.wake_time``."""
        bound = self._wakes.bound()
        return 0 if bound is None else math.ceil(bound)

    # -- observation ---------------------------------------------------------------------------------------

    def follow(self, site: Site) -> None:
        """See ``PowerPolicy.follow``."""
        if site is not self._site:
            self._site = site
            self._capacity, self._hosts = capacity_of(site)

    def woke(self, seconds: int) -> None:
        """See ``PowerPolicy.woke``."""
        self._wakes.observe(seconds)
        self._changed.add(_TIMES)

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        self._pass_to(now)
        request = lease.request
        # The plan tells in time of a request that is decided later, or begins later.
        if now != request.submitted or (request.start is not None and request.start > now + self._epoch):
            return
        decided = (Outcome.QUEUED,) if request.kind is LeaseKind.BEST_EFFORT else (Outcome.PLACED, Outcome.REFUSED)
        share = share_of(request, self._capacity)
        if outcome in decided and lease.started is None and 0 < share <= 1:
            self._spare.started(math.ceil(share * self._hosts * _PARTS))

    def _pass_to(self, now: int) -> None:
        if self._began is None or now < self._began:
            self._began = now
        passed = (now - self._began) // self._epoch
        # Epochs without requests teach nothing, but count.
        for _ in range(min(passed, self._rules.least_epochs + 1)):
            self._spare.end_epoch()
        if passed:
            self._began += passed * self._epoch
            self._changed.add(_BURSTS)

    # -- storage -------------------------------------------------------------------------------------------

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, set()
        stored: dict[str, Learnt] = {_BURSTS: self._spare.state(), _TIMES: self._wakes.state()}
        return {subject: stored[subject] for subject in changed}

    def restore(self, learnt: Mapping[str, Mapping[str, Any]]) -> None:
        """See ``Policy.restore``. What is damaged, or written by another version, is not used."""
        self._forget()
        try:
            if _BURSTS in learnt:
                self._spare.restore(learnt[_BURSTS])
            if _TIMES in learnt:
                self._wakes.restore(learnt[_TIMES])
        except (InvalidValueError, AttributeError):
            self._forget()
