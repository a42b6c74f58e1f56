"""The whole engine gives each project the share that the policy alone gives its flow (shirako E6, E10)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.policy.queueing.winks.round import FlowRound
from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shares.run import SharesRun
from lease_scheduler.simulation.shares.workload import as_workload

_TICKS = 400


@pytest.mark.parametrize(
    ("debt", "when_idle"), [("yes", "spare"), ("no", "spare"), ("yes", "strict"), ("no", "strict")]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leases_that_a_share_refuses_need_no_search(
    seed: int, debt: str, when_idle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All leases get the same places if one is looked for for each of them, and only then refused."""
    flows = [FlowLoad(str(number), 1 / 8, (5, 30), (2, 12) if number % 2 else None) for number in range(8)]
    study = SharesRun(flows, 24, 150, WinksOptions(40, debt=True), bound=400, seed=seed).execute()
    options = {"winks_window": "40", "winks_debt": debt, "winks_limit_when_idle": when_idle}
    planning = PlanningOptions(backfilling_limit=None, suspension=Suspension.NONE)
    chosen = RunSettings(policies={"queueing": "winks"}, planning=planning, policy_options=options)
    decided = []

    def remembered(*given: Any) -> bool:
        decided.append(is_refused(*given))
        return decided[-1]

    is_refused = FlowRound._is_refused
    monkeypatch.setattr(FlowRound, "_is_refused", remembered)
    found = Run(as_workload(study), chosen).execute()
    monkeypatch.setattr(FlowRound, "_is_refused", lambda *_: False)
    thorough = Run(as_workload(study), chosen).execute()

    assert found.leases == thorough.leases
    assert found.occupations == thorough.occupations
    assert any(decided)


@pytest.mark.parametrize(("window", "widths"), [(0, None), (100, (4, 32))])
def test_engine_and_policy_alone_agree(window: int, widths: tuple[int, int] | None) -> None:
    """100 hosts: within half a point of each share, and of the part of the site that is used."""
    durations = (10, 60)
    flows = [FlowLoad("a", 0.5, durations), FlowLoad("b", 0.3, durations, widths), FlowLoad("c", 0.2, durations)]
    alone = SharesRun(flows, 100, _TICKS, WinksOptions(window), bound=8_000).execute()
    chosen = RunSettings(
        policies={"queueing": "winks"},
        planning=PlanningOptions(backfilling_limit=None, suspension=Suspension.NONE),
        flow_weights={flow.name: flow.share for flow in flows},
        policy_options={"winks_window": str(window), "winks_debt": "no", "winks_limit_when_idle": "strict"},
    )

    result = Run(as_workload(alone), chosen).execute()

    used = dict.fromkeys("abc", 0)
    for lease in result.leases:
        assert lease.request.user is not None and lease.started is not None and lease.ended is not None
        seconds = max(0, min(lease.ended, _TICKS) - min(lease.started, _TICKS))
        used[lease.request.user] += lease.request.node_count * seconds
    total = sum(used.values())
    shares = {name: seconds / total for name, seconds in used.items()}
    assert shares == pytest.approx(alone.shares(), abs=0.005)
    assert total / (100 * _TICKS) == pytest.approx(alone.efficiency(), abs=0.005)
    if not window:
        assert shares == alone.shares()
