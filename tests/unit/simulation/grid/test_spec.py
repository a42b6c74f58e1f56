from __future__ import annotations

import json

import pytest

from lease_scheduler.federation.negotiation.record import Rules
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.simulation.campaigns.case import parameters_of
from lease_scheduler.simulation.grid.case import GridCase
from lease_scheduler.simulation.grid.gateway import GatewaySettings
from lease_scheduler.simulation.grid.spec import GatewaySpec, GridSpec, SiteSpec
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1})
_REQUESTS = Workload(
    "test",
    tuple(
        WorkloadLease(LeaseRequest(str(number), LeaseKind.BEST_EFFORT, (NodeSet(1, _VM),), number, 10))
        for number in range(20)
    ),
)


def _spec(seed: int = 1, **members: int) -> GridSpec:
    site = SiteSpec(site=Site.homogeneous(20, _VM))
    gateways = tuple(
        GatewaySpec(
            members or {"a": 0, "b": 0},
            GatewaySettings(Rules(name)),
            {"allocation": "bcf", "dispatch": "random"},
            _REQUESTS,
        )
        for name in ("g", "h")
    )
    return GridSpec({"a": site, "b": site}, gateways, seed)


def test_the_same_seed_gives_the_same_world_and_another_seed_another_one() -> None:
    first, again, other = (_spec(seed).make().execute() for seed in (1, 1, 2))

    sites = [[outcome.site for outcome in each.outcomes] for each in (first, again, other)]
    assert sites[0] == sites[1] != sites[2]
    assert set(sites[0]) == {"a", "b"}


def test_requests_of_different_gateways_may_have_the_same_ids() -> None:
    found = [outcome.request.lease_id for outcome in _spec().make().execute().outcomes]

    assert found[:2] == ["g-0", "g-1"]
    assert len(set(found)) == 40


def test_a_gateway_cannot_have_members_that_do_not_exist() -> None:
    with pytest.raises(InvalidValueError, match="members: 'c' cannot be one of g; known are a, b, h"):
        _spec(c=0).make()
    with pytest.raises(InvalidValueError, match="members: 'g' cannot be one of g; known are a, b, h"):
        _spec(g=0).make()


def test_a_world_is_a_run_of_a_campaign() -> None:
    case = GridCase("two sites", _spec(), {"seed": 1})
    outcome = json.loads(json.dumps(case.run()))

    assert outcome["gateways"]["g"]["granted"] == 20
    assert sum(outcome["sites"][name]["external"] for name in ("a", "b")) == 40
    assert parameters_of(case) == {"seed": 1}
