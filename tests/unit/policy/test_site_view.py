"""What admission policies see of the site (haizea F35)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from stevedore import DriverManager

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block
from lease_scheduler.plan.plan import Plan
from lease_scheduler.policy import loader
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.maximum_nodes import MaximumNodes
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1})


def _request(lease_id: str, kind: LeaseKind, nodes: int, user: str, start: int | None, duration: int) -> LeaseRequest:
    return LeaseRequest(lease_id, kind, (NodeSet(nodes, _VM),), 0, start=start, duration=duration, user=user)


RESERVATION = _request("r", LeaseKind.RESERVATION, 3, "physics", 100, 50)
QUEUED = [_request(str(number), LeaseKind.BEST_EFFORT, 1, "biology", None, 10) for number in (1, 2)]


class TwoArguments(AdmissionPolicy):
    """A third-party policy for the older interface, without the view."""

    def refusal(self, request: LeaseRequest, now: int) -> str | None:  # type: ignore[override]
        return f"nodes: {request.node_count} at {now}"


class ExtendsOurs(MaximumNodes):
    """Extends a policy of ours, with two arguments."""

    def refusal(self, request: LeaseRequest, now: int) -> str | None:  # type: ignore[override]
        return super().refusal(request, now) or ("user: is needed" if request.user is None else None)


class OneQueuedLeaseEach(AdmissionPolicy):
    """Refuses a project that has a lease in the queue."""

    def refusal(self, request: LeaseRequest, now: int, view: SiteView) -> str | None:
        waiting = view.queued_by_project.get(request.user, ())
        return f"user: {len(waiting)} leases wait already" if waiting else None


def _install(monkeypatch: pytest.MonkeyPatch, policy: AdmissionPolicy) -> None:
    """Make the loader find this admission policy under any name."""

    def manager(namespace: str, *arguments: Any, **options: Any) -> Any:
        if namespace.endswith(".admission"):
            return SimpleNamespace(driver=policy)
        return DriverManager(namespace, *arguments, **options)

    monkeypatch.setattr(loader, "DriverManager", manager)


def _loaded(monkeypatch: pytest.MonkeyPatch, policy: AdmissionPolicy) -> AdmissionPolicy:
    _install(monkeypatch, policy)
    loaded: AdmissionPolicy = loader.load_policy("admission", "another", PolicyOptions())
    return loaded


def _plan() -> Plan:
    """Return two hosts of four VCPUs with a reservation of three from 100 to 150, two queued leases, one undecided."""
    plan = Plan(Site.homogeneous(2, Resources({VCPU: 4})))
    reserved = Lease(RESERVATION, 3).to(LeaseState.PENDING, LeaseState.SCHEDULED, LeaseState.READY)
    plan.put(replace(reserved, holdings=(Holding((0, 0, 1), 100, 100, 150, 150),)))
    for request in reversed(QUEUED):
        plan.put(Lease(request, int(request.lease_id)).to(LeaseState.PENDING, LeaseState.QUEUED))
    plan.put(Lease(replace(RESERVATION, lease_id="asked"), 4).to(LeaseState.PENDING))
    return plan


def test_leases_are_grouped_by_project_without_the_request_itself() -> None:
    view = SiteView(_plan(), 0)
    assert [lease.lease_id for lease in view.live] == ["1", "2", "r"]
    assert [lease.lease_id for lease in view.queued] == ["1", "2"]
    assert {project: len(leases) for project, leases in view.live_by_project.items()} == {"biology": 2, "physics": 1}
    assert {project: len(leases) for project, leases in view.queued_by_project.items()} == {"biology": 2}


def test_leases_are_grouped_by_origin() -> None:
    """Local leases are those of the origin None."""
    plan = _plan()
    plan.put(Lease(replace(QUEUED[0], lease_id="9", origin="north"), 9).to(LeaseState.PENDING, LeaseState.QUEUED))
    plan.put(Lease(replace(QUEUED[0], lease_id="10", origin="south"), 10).to(LeaseState.PENDING))
    view = SiteView(plan, 0)
    live = {origin: [lease.lease_id for lease in leases] for origin, leases in view.live_by_origin.items()}
    assert live == {None: ["1", "2", "r"], "north": ["9"]}
    queued = {origin: [lease.lease_id for lease in leases] for origin, leases in view.queued_by_origin.items()}
    assert queued == {None: ["1", "2"], "north": ["9"]}


@pytest.mark.parametrize(("now", "used"), [(0, 0), (100, 3), (149, 3), (150, 0)])
def test_used_is_what_leases_use_now(now: int, used: int) -> None:
    view = SiteView(_plan(), now)
    assert (view.capacity, view.used) == (Resources({VCPU: 8}), Resources({VCPU: used}))


def test_hosts_that_are_out_of_service_count_for_nothing() -> None:
    plan = _plan()
    block(plan, 0, 90, 130)
    view = SiteView(plan, 100)
    assert (view.capacity, view.used) == (Resources({VCPU: 4}), Resources({VCPU: 1}))


@pytest.mark.parametrize(
    ("now", "needed", "instant"),
    [(0, 5, None), (0, 6, 100), (120, 6, 120), (150, 6, None), (0, 8, 100), (0, 9, 0), (0, 0, None)],
)
def test_next_shortage_is_when_less_is_free_than_needed(now: int, needed: int, instant: int | None) -> None:
    assert SiteView(_plan(), now).next_shortage(Resources({VCPU: needed})) == instant


def test_there_is_less_free_while_a_host_is_out_of_service() -> None:
    """From 90 on there is the other host, of which one VCPU is used from 100 on, and both from 130 on."""
    plan = _plan()
    block(plan, 0, 90, 130)
    view = SiteView(plan, 0)
    assert [view.next_shortage(Resources({VCPU: needed})) for needed in (3, 4, 5)] == [None, 100, 90]
    assert SiteView(plan, 130).next_shortage(Resources({VCPU: 5})) is None


def test_a_class_that_the_site_does_not_have_is_always_short() -> None:
    assert SiteView(_plan(), 42).next_shortage(Resources({"CUSTOM_GPU": 1})) == 42


def test_a_policy_of_two_arguments_is_called_with_the_site_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """haizea F35"""
    view = SiteView(_plan(), 7)
    assert _loaded(monkeypatch, TwoArguments(PolicyOptions())).refusal(RESERVATION, 7, view) == "nodes: 3 at 7"
    ours = _loaded(monkeypatch, ExtendsOurs(PolicyOptions({"admission_maximum_nodes": "2"})))
    refusal = ours.refusal(RESERVATION, 7, view)
    assert refusal is not None
    assert refusal.startswith("nodes: must be at most 2 on this site, not 3")


def test_a_policy_of_three_arguments_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = OneQueuedLeaseEach(PolicyOptions())
    assert "refusal" not in vars(_loaded(monkeypatch, policy))


def _states(policy: AdmissionPolicy, monkeypatch: pytest.MonkeyPatch) -> dict[str, LeaseState]:
    """Run three best-effort leases that arrive at once, of which one can run at a time; return their states."""
    _install(monkeypatch, policy)
    requests = [replace(QUEUED[0], lease_id=str(number), user="biology") for number in (1, 2, 3)]
    workload = Workload("three", tuple(WorkloadLease(request) for request in requests), Site.homogeneous(1, _VM))
    result = Run(workload, RunSettings()).execute()
    return {lease.lease_id: lease.state for lease in result.leases}


def test_the_engine_shows_the_site_to_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three arrive before the queue is served: the first one is queued when the second one is decided."""
    states = _states(OneQueuedLeaseEach(PolicyOptions()), monkeypatch)
    assert states == {"1": LeaseState.DONE, "2": LeaseState.REJECTED, "3": LeaseState.REJECTED}


def test_the_engine_asks_a_policy_of_two_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(_states(TwoArguments(PolicyOptions()), monkeypatch).values()) == {LeaseState.REJECTED}
