"""Observations of a site for metrics."""

from __future__ import annotations

from lease_scheduler.service.core.metrics.state import Observation
from lease_scheduler.service.core.transactions import SiteTransactions

#: Real seconds that a request for metrics waits for the engine before it gets the previous observation.
_LONGEST_WAIT = 0.5


class SiteObservations:
    """Observes a site.

    :param plan: the plan of the site
    """

    def __init__(self, plan: SiteTransactions) -> None:
        self._plan = plan
        self._seen: Observation | None = None

    def look(self) -> Observation | None:
        """Return the state of the site, or an earlier one while the engine is busy; None if there is none yet."""
        plan = self._plan
        if plan.lock.acquire(timeout=_LONGEST_WAIT):
            try:
                self._seen = Observation(
                    now=plan.clock.now(),
                    leases=tuple(plan.work.leases.values()),
                    documents=dict(plan.work.documents),
                    orders=tuple(plan.work.intents.open_intents()),
                    hosts=tuple(plan.records.hosts.values()),
                    floating_ips=tuple(plan.records.floating_ips.values()),
                    site=plan.engine.site,
                    flows={pool: plan.flow_reports(pool) for pool in plan.parts},
                    pools=tuple(plan.parts),
                    price_rates={
                        pool: pricing.rate(None, None)
                        for pool in plan.parts
                        if (pricing := plan.engine.policies(pool).pricing).charges
                    },
                    watts=plan.options.watts,
                    forecasts=plan.forecasts(),
                )
            finally:
                plan.lock.release()
        return self._seen
