"""Which policies of an engine may learn."""

from __future__ import annotations

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import FAMILIES, load_policy
from lease_scheduler.service.policies import SitePolicies, learning_policies, no_prices

OPTIONS = PolicyOptions()


@pytest.mark.parametrize("transfers", [None, TransferOptions(required=True), TransferOptions(required=False)])
def test_every_policy_may_learn_however_the_planner_uses_it(transfers: TransferOptions | None) -> None:
    """Where images are brought to hosts, the planner puts hosts that have them first, around the selection policy."""
    selection = load_policy("host_selection", "packing", OPTIONS)
    planner = Planner(
        Site.homogeneous(1, Resources({VCPU: 1, MEMORY_MB: 1024})),
        PlanningOptions(),
        selection,
        load_policy("preemption", "by-kind", OPTIONS),
        mapper=load_policy("mapper", "spread", OPTIONS),
        queueing=load_policy("queueing", "fifo", OPTIONS),
        duration=load_policy("duration", "requested", OPTIONS),
        transfers=transfers,
    )
    policies = SitePolicies(
        lambda site: planner,
        load_policy("admission", "accept-all", OPTIONS),
        penalty=load_policy("penalty", "none", OPTIONS),
        power=load_policy("power", "none", OPTIONS),
        assurance=load_policy("assurance", "none", OPTIONS),
        relocation=load_policy("relocation", "none", OPTIONS),
        fractional=load_policy("fractional", "none", OPTIONS),
    )

    found = learning_policies(policies, planner, no_prices())

    assert set(found) == set(FAMILIES)
    assert found["host_selection"] is selection
    for family, policy in found.items():
        assert isinstance(policy, FAMILIES[family])


def test_the_planners_own_defaults_are_no_policies() -> None:
    """A planner that was given no mapper, queueing and duration policies has none that could learn."""
    planner = Planner(
        Site.homogeneous(1, Resources({VCPU: 1, MEMORY_MB: 1024})),
        PlanningOptions(),
        load_policy("host_selection", "greedy", OPTIONS),
        load_policy("preemption", "by-kind", OPTIONS),
    )
    policies = SitePolicies(lambda site: planner, load_policy("admission", "accept-all", OPTIONS))

    assert set(learning_policies(policies, planner, no_prices())) == {
        "admission",
        "host_selection",
        "preemption",
        "pricing",
    }
