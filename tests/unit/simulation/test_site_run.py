"""When a site of a simulation stops, and what it takes from outside its workload."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.site_run import SiteRun, earlier
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 100})
_UNTIL_DONE = RunSettings(stop_when=StopWhen.BEST_EFFORT_DONE)


def _best_effort(lease_id: str, submitted: int = 0, duration: int = 100, nodes: int = 1, **terms: Any) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(nodes, _VM),), submitted, duration, **terms)


def _reservation(lease_id: str, start: int, duration: int = 100) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, (NodeSet(1, _VM),), 0, duration, start)


def _workload(*requests: LeaseRequest, hosts: int = 2) -> Workload:
    ordered = sorted(requests, key=lambda request: request.submitted)
    return Workload("test", tuple(WorkloadLease(each) for each in ordered), Site.homogeneous(hosts, _VM))


def _states(result: RunResult) -> dict[str, LeaseState]:
    return {lease.lease_id: lease.state for lease in result.leases}


def test_a_run_stops_with_the_last_best_effort_lease() -> None:
    """haizea F91: other leases are left as they are."""
    result = Run(_workload(_best_effort("1"), _reservation("later", start=5000)), _UNTIL_DONE).execute()

    assert (result.end, _states(result)) == (100, {"1": LeaseState.DONE, "later": LeaseState.READY})


@pytest.mark.parametrize(
    ("refused", "settings"),
    [
        (_best_effort("no", 50, nodes=3), _UNTIL_DONE),
        (_best_effort("no", 50, duration=900), _UNTIL_DONE.with_policies(admission="maximum-duration")),
    ],
    ids=["larger than the site", "by the admission policy"],
)
def test_a_best_effort_lease_that_is_refused_has_ended(refused: LeaseRequest, settings: RunSettings) -> None:
    """haizea F91: a run until all best-effort leases are done does not wait for a lease that was refused."""
    settings = replace(settings, policy_options={"admission_maximum_duration": "500"})
    later = _reservation("later", start=400)
    result = Run(_workload(_best_effort("1"), refused, later), settings).execute()
    assert (result.end, _states(result)["no"]) == (100, LeaseState.REJECTED)

    # The refusal itself may be the last that there is to wait for.
    result = Run(_workload(_best_effort("1", duration=20), refused, later), settings).execute()
    assert (result.end, _states(result)["no"]) == (50, LeaseState.REJECTED)


def test_a_best_effort_lease_that_is_too_expensive_has_ended() -> None:
    """haizea F91: a lease that its user does not want at the price is not waited for either."""
    poor = _best_effort("no", 50, duration=3600, extras={"simul_userrate": "0.1"})
    settings = replace(_UNTIL_DONE.with_policies(pricing="constant"), policy_options={"pricing_rate": "1"})
    result = Run(_workload(_best_effort("1"), poor, _reservation("later", start=5000)), settings).execute()

    assert (result.end, _states(result)["no"]) == (100, LeaseState.REJECTED_BY_USER)


@pytest.mark.parametrize(("stop_time", "end"), [(60, 60), (300, 100), (1000, 1000)])
def test_the_instant_to_stop_at_comes_before_best_effort_leases_that_were_never_submitted(
    stop_time: int, end: int
) -> None:
    """With both conditions the one that holds first ends the run."""
    requests = [_best_effort("1")] if stop_time == 300 else [_best_effort("1"), _best_effort("2", 2000)]
    workload = _workload(*requests, _reservation("later", start=5000))
    result = Run(workload, replace(_UNTIL_DONE, stop_time=stop_time)).execute()

    assert (result.end, "2" in _states(result)) == (end, False)


def test_a_run_stops_when_all_best_effort_leases_are_submitted() -> None:
    """haizea F91."""
    settings = RunSettings(stop_when=StopWhen.BEST_EFFORT_SUBMITTED)
    result = Run(_workload(_best_effort("1"), _best_effort("2", 30), _reservation("3", start=900)), settings).execute()

    assert result.end == 30
    assert [lease.state for lease in result.leases if lease.kind is LeaseKind.BEST_EFFORT] == [LeaseState.ACTIVE] * 2


def test_a_run_stops_at_its_instant_and_watchers_see_that() -> None:
    """haizea F91: what is due at the instant itself is still done."""
    seen: list[int] = []
    run = Run(_workload(_best_effort("1"), _best_effort("2", 70), _best_effort("3", 71)), RunSettings(stop_time=70))
    result = run.execute([lambda site: seen.append(site.clock.now())])
    assert (result.end, seen, list(_states(result))) == (70, [0, 70, 70], ["1", "2"])

    seen.clear()
    run = Run(_workload(_best_effort("1"), _best_effort("2", 80)), RunSettings(stop_time=70))
    assert (run.execute([lambda site: seen.append(site.clock.now())]).end, seen) == (70, [0, 70])


def test_a_request_from_outside_is_due_at_once_and_takes_the_time_that_it_really_takes() -> None:
    clock = SimulatedClock()
    site = SiteRun(_workload(), RunSettings(), clock)
    assert site.next_instant() is None

    clock.set(40)
    site.submit(WorkloadLease(_best_effort("1", 40), real_duration=25))
    assert site.next_instant() == 40
    site.step()
    assert site.next_instant() == 65
    clock.set(65)
    site.step()

    result = site.result(0.0)
    assert [(lease.started, lease.ended) for lease in result.leases] == [(40, 65)]
    assert (site.next_instant(), result.end, result.last_submission) == (None, 65, 40)


def test_only_a_site_that_expects_requests_watches_its_idle_hosts() -> None:
    cloud = CloudBehaviour(host_failures=(HostFailure(0, 500, 100),))
    site = SiteRun(_workload(), RunSettings(cloud=cloud), SimulatedClock())

    assert (site.next_instant(), site.next_instant(expects=True)) == (None, 500)


@pytest.mark.parametrize("settings", [_UNTIL_DONE, RunSettings(stop_when=StopWhen.EXACT, stop_time=9)])
def test_a_site_that_may_stop_takes_no_requests_from_outside(settings: RunSettings) -> None:
    site = SiteRun(_workload(), settings, SimulatedClock())
    with pytest.raises(InvalidValueError, match="may stop before lease 1 is done; let it be open-ended"):
        site.submit(WorkloadLease(_best_effort("1")))


def test_requests_from_outside_are_made_at_the_price_that_their_user_would_pay() -> None:
    """haizea F77: as those of the workload, also for quotes."""
    settings = RunSettings(policies={"pricing": "constant"}, policy_options={"pricing_rate": "1"})
    site = SiteRun(_workload(), settings, SimulatedClock())
    poor = _best_effort("1", duration=3600, extras={"simul_userrate": "0.1"})
    assert site.quote(poor).refusal is not None

    site.submit(WorkloadLease(poor))
    site.step()

    assert _states(site.result(0.0)) == {"1": LeaseState.REJECTED_BY_USER}


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(None, None, None), (3, None, 3), (None, 3, 3), (3, 4, 3), (4, 3, 3)]
)
def test_the_earlier_of_two_instants_ignores_none(one: int | None, other: int | None, expected: int | None) -> None:
    assert earlier(one, other) == expected
