"""Invariants of simulated Grids: whatever the delays and modes, a request runs once, or is refused and runs nowhere."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.federation.negotiation.record import Mode, Rules, Stage
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.grid.gateway import GatewaySettings
from lease_scheduler.simulation.grid.spec import GatewaySpec, GridSpec, SiteSpec
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1})


@st.composite
def _requests(draw: st.DrawFn) -> list[LeaseRequest]:
    found = []
    submitted = 0
    for number in range(draw(st.integers(1, 6))):
        submitted += draw(st.integers(0, 40))
        kind = draw(st.sampled_from([LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION]))
        duration, notice = draw(st.integers(1, 100)), draw(st.integers(0, 60))
        start = None if kind is LeaseKind.BEST_EFFORT else submitted + notice
        deadline = submitted + notice + 3 * duration if kind is LeaseKind.DEADLINE else None
        nodes = (NodeSet(draw(st.integers(1, 4)), _VM),)
        found.append(LeaseRequest(str(number), kind, nodes, submitted, duration, start, deadline))
    return found


@st.composite
def _grids(draw: st.DrawFn) -> GridSpec:
    """Return two or three sites, a gateway to all of them, and one that asks the first one and the last site."""
    sites = {
        f"s{number}": SiteSpec(
            settings=RunSettings(check_invariants=True),
            site=Site.homogeneous(draw(st.integers(1, 3)), _VM),
            speed=draw(st.sampled_from([0.5, 1.0, 3.0])),
            can_hold=draw(st.booleans()),
        )
        for number in range(draw(st.integers(2, 3)))
    }
    allocations = st.sampled_from(["round-robin", "earliest", "bcf", "pap"])

    def gateway(name: str, *members: str) -> GatewaySpec:
        delays = {member: draw(st.integers(0, 25)) for member in members}
        options = GatewaySettings(Rules(name), draw(st.sampled_from(Mode)))
        requests = tuple(WorkloadLease(each) for each in draw(_requests()))
        return GatewaySpec(delays, options, {"allocation": draw(allocations)}, Workload(name, requests))

    return GridSpec(sites, (gateway("g", *sites), gateway("h", "g", next(reversed(sites)))))


@settings(max_examples=100, deadline=None)
@given(_grids())
def test_a_request_runs_once_or_is_refused_and_runs_nowhere(spec: GridSpec) -> None:
    result = spec.make().execute()

    leases = [lease for site in result.sites.values() for lease in site.leases]
    done = Counter(lease.lease_id for lease in leases if lease.started is not None)
    claimed = Counter(outcome.lease.lease_id for outcome in result.outcomes if outcome.lease is not None)
    assert all(lease.is_final for lease in leases)
    assert not claimed - done
    assert max(claimed.values(), default=0) <= 1
    for outcome in result.outcomes:
        assert outcome.stage in (Stage.ENDED, Stage.REFUSED)
        assert (outcome.stage is Stage.REFUSED) == (outcome.lease is None)
        if outcome.lease is not None:
            assert outcome.lease.state is LeaseState.DONE
            assert outcome.decided is not None
            assert outcome.decided >= outcome.request.submitted
    # Nothing else has run to its end; what was granted too late is ended at once.
    others = done - claimed
    ended = {lease.lease_id: lease.state for lease in leases}
    assert all(ended[lease_id] is not LeaseState.DONE for lease_id in others)


@settings(max_examples=20, deadline=None)
@given(_grids())
def test_the_same_grid_has_the_same_history(spec: GridSpec) -> None:
    first, second = spec.make().execute(), spec.make().execute()

    assert first.outcomes == second.outcomes
    assert [site.leases for site in first.sites.values()] == [site.leases for site in second.sites.values()]
