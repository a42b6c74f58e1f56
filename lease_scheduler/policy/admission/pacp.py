"""Admission of as many external requests as the site can serve in time."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.learnt_load import LearntLoad
from lease_scheduler.policy.admission.queue_model import most_places
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class PreemptionAwareAdmission(LearntLoad):
    """Lets as many leases of peers wait as are served within a threshold on average (PACP; Amini Salehi 2012, alg. 4).

    ``queue_model`` computes that from the load, which includes the time for which local requests preempt them.

    Options:

    * ``admission_threshold`` (0): seconds from request to end that are acceptable on average. With 0 the threshold is
      the mean work of a request times the weighted mean of the two ratios below (equation 5.13).
    * ``admission_low_urgency_share`` (0.5): share of requests that are not urgent.
    * ``admission_low_urgency_ratio`` (4.0), ``admission_high_urgency_ratio`` (2.0): how many times as long as its work
      a request of low and of high urgency may take.
    * ``admission_least_places`` (1): number of leases that may wait even if that takes longer than the threshold. While
      local requests take all of the site, none may.
    * those of ``LearntLoad``.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._threshold = options.number("admission_threshold", 0.0)
        share = options.number("admission_low_urgency_share", 0.5)
        if share > 1:
            raise InvalidValueError("policy option admission_low_urgency_share", f"must be from 0 to 1, not {share:g}")
        low = options.number("admission_low_urgency_ratio", 4.0)
        high = options.number("admission_high_urgency_ratio", 2.0)
        self._ratio = share * low + (1 - share) * high
        self._least = max(1, options.integer("admission_least_places", 1))

    def places(self, view: SiteView, now: int) -> int | None:
        """See ``ExternalAdmission.places``."""
        load = self.load(view, now)
        if load is None:
            return None
        return most_places(load, self._threshold or self._ratio * load.external_work, self._least)
