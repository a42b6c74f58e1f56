"""Runs with prices for deadline leases (Sotomayor 2010, section 8.3; haizea E6).

They are the runs of ``deadlines``, with users who each have a highest rate per node and hour, under four pricing
strategies. The dissertation does not give all parameters of the strategies. Here, CONSTANT has the rate 1.00, ADAPTIVE
starts at 1.00, and RANDOM draws from 0.10 to 10.00, the range of the users' rates. ADAPTIVE searches to a resolution
of a thousandth (``pricing_resolution``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.haizea.deadlines import MODES, RAMP_UP, DeadlineCase, annotated, read_trace, run_settings
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.adaptive import Adaptive
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.rate_sweep import adaptive_rate, median_rate, sweep_rates
from lease_scheduler.simulation.run import Run

STRATEGIES = ("ADAPTIVE", "RANDOM", "CONSTANT", "MAXIMUM")

#: The four parts of all that users would pay, which are the bars of figures 8.1 and 8.2.
PARTS = ("earned", "underpriced", "rejected by user", "not schedulable")

_WITH_SUSPENSION = MODES[-1]
_DIGITS = 6
_ADAPTIVE_OPTIONS = {"pricing_resolution": "0.001"}


@dataclass(frozen=True)
class PriceCase:
    """One run with prices that users may decline; for other runs, see ``case_of``.

    :ivar trace: a key of ``deadlines.TRACES``
    :ivar start: a key of ``deadlines.STARTS``
    :ivar deadline: a key of ``deadlines.DEADLINES``
    :ivar users: a key of ``deadlines.USERS``
    :ivar strategy: one of ``STRATEGIES`` except MAXIMUM
    :ivar seed: seed of the annotations and of RANDOM
    :ivar mode: one of ``deadlines.MODES``
    """

    trace: str
    start: str
    deadline: str
    users: str
    strategy: str
    seed: int
    mode: str = _WITH_SUSPENSION

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"{self.trace} {self.start}/{self.deadline} {self.mode} {self.users} {self.strategy} seed={self.seed}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return 6.0 if self.trace == "BLUE2" else 15.0

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        workload = annotated(read_trace(self.trace), self.start, self.deadline, self.seed, self.users)
        settings = replace(
            run_settings(self.mode).with_policies(pricing=self.strategy.lower()),
            policy_options={**_ADAPTIVE_OPTIONS, "pricing_seed": str(self.seed)},
        )
        run = Run(workload, settings)
        result = run.execute()
        revenue = metrics.revenue(result.leases)
        assert revenue is not None
        # The total is computed from the workload, so that the parts do not add up if the run loses a lease.
        total = sum(metrics.worth_to_user(lease.request) or 0.0 for lease in workload.leases)
        parts = (revenue.earned, revenue.undercharged, revenue.rejected_by_user, revenue.rejected)
        return {
            **{name: part / total for name, part in zip(PARTS, parts, strict=True)},
            "requested": len(result.leases),
            "done": sum(lease.state is LeaseState.DONE for lease in result.leases),
            "utilisation": metrics.utilisation(result).average(RAMP_UP, result.last_submission),
            "suspensions": result.counters.get("suspensions", 0),
            "wall_s": result.wall_s,
            **({"final_rate": run.policies.pricing.rate(None, None)} if self.strategy == "ADAPTIVE" else {}),
        }


@dataclass(frozen=True)
class RateSweepCase:
    """A rate sweep over a workload from 0.10 to 10.00, with every lease feasible (figures 8.3 and 8.4).

    :ivar trace: a key of ``deadlines.TRACES``
    :ivar users: a key of ``deadlines.USERS``
    :ivar seed: seed of the annotations
    """

    trace: str
    users: str
    seed: int
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"{self.trace} {self.users} rate sweep seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        # Starts and deadlines do not affect a sweep.
        workload = annotated(read_trace(self.trace), "EARLY", "TIGHT", self.seed, self.users)
        swept = sweep_rates(workload)
        return {
            "adaptive_rate": adaptive_rate(workload, Adaptive(PolicyOptions(_ADAPTIVE_OPTIONS))),
            "median_rate": median_rate(workload),
            "best_rate": swept.best_rate,
            "rates": swept.rates.tolist(),
            "earned": np.round(swept.earned, _DIGITS).tolist(),
            "underpriced": np.round(swept.underpriced, _DIGITS).tolist(),
            "rejected": np.round(swept.rejected, _DIGITS).tolist(),
        }


def case_of(
    trace: str, start: str, deadline: str, users: str, strategy: str, seed: int, mode: str = _WITH_SUSPENSION
) -> DeadlineCase | PriceCase:
    """Return the run that shows the results of a strategy.

    If every user is charged the most that they would pay, it is a run of ``deadlines``, which does not depend on the
    users. This is so for MAXIMUM, and for CONSTANT with users whose rate is the constant.
    """
    if strategy == "MAXIMUM" or strategy == users == "CONSTANT":
        return DeadlineCase(trace, start, deadline, mode, seed)
    return PriceCase(trace, start, deadline, users, strategy, seed, mode)


def revenue_shares(outcomes: Mapping[str, Outcome], case: DeadlineCase | PriceCase, users: str) -> dict[str, float]:
    """Return the share of each of ``PARTS`` in all that users would pay.

    In a run of ``deadlines``, users pay in full for leases that are done, and no user declines a price.

    :param users: a key of ``deadlines.USERS``
    """
    outcome = outcomes[case.name]
    if isinstance(case, PriceCase):
        return {part: outcome[part] for part in PARTS}
    total = outcome[f"{users}_all"]
    shares = (outcome[f"{users}_done"] / total, 0.0, 0.0, outcome[f"{users}_rejected"] / total)
    return dict(zip(PARTS, shares, strict=True))
