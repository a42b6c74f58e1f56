"""Admission of requests of peers (contention F45-F52)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import Plan
from lease_scheduler.policy.admission.learnt_load import LearntLoad
from lease_scheduler.policy.admission.queue_model import Load, most_places, places_by_rates
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1, MEMORY_MB: 512})
_NOW = 1_000


def _request(
    lease_id: str, origin: str | None = "peer", submitted: int = 0, duration: int = 100, nodes: int = 1
) -> LeaseRequest:
    return LeaseRequest(
        lease_id,
        LeaseKind.BEST_EFFORT,
        (NodeSet(nodes, _VM),),
        submitted,
        duration,
        preemptible=True,
        origin=origin,
    )


def _view(*leases: Lease) -> SiteView:
    plan = Plan(Site.homogeneous(4, Resources({VCPU: 1, MEMORY_MB: 4096})))
    plan.put_all(leases)
    return SiteView(plan, _NOW)


def _queued(lease_id: str, origin: str | None = "peer") -> Lease:
    return Lease(_request(lease_id, origin), int(lease_id), LeaseState.QUEUED)


def _planned(lease_id: str, start: int) -> Lease:
    held = (Holding((0,), start, start, start + 100, start + 100),)
    return Lease(_request(lease_id), int(lease_id), LeaseState.SCHEDULED, holdings=held)


def _running(lease_id: str, end: int) -> Lease:
    held = (Holding((1,), 0, 0, end, end),)
    return Lease(_request(lease_id), int(lease_id), LeaseState.ACTIVE, started=0, active_since=0, holdings=held)


def _taught(name: str, arrivals: list[LeaseRequest], **options: str) -> LearntLoad:
    policy = load_policy("admission", name, PolicyOptions(options))
    assert isinstance(policy, LearntLoad)
    for number, request in enumerate(arrivals):
        policy.observe(Outcome.QUEUED, Lease(request, number, LeaseState.QUEUED), None, request.submitted)
    return policy


def _arrivals(
    gap: int, count: int, duration: int, nodes: int, origin: str | None, first: int = 0
) -> list[LeaseRequest]:
    return [_request(f"{origin}{n}", origin, first + n * gap, duration, nodes) for n in range(count)]


def test_aacp_lets_one_lease_wait_and_cacp_any_number() -> None:
    """contention F49: AACP and CACP."""
    one, any_number = (load_policy("admission", name, PolicyOptions()) for name in ("aacp", "cacp"))
    busy = _view(_queued("1"), _running("2", 4_000))
    assert one.refusal(_request("9"), _NOW, _view(_running("2", 4_000))) is None
    assert one.refusal(_request("9", None), _NOW, busy) is None, "a local request"
    assert any_number.refusal(_request("9"), _NOW, busy) is None
    assert one.refusal(_request("9"), _NOW, busy) == (
        "origin: at most 1 lease of a peer may wait for a place on this site, and 1 does; "
        "ask again in 50 min, when a lease ends"
    )


@pytest.mark.parametrize(
    ("leases", "again"),
    [
        ((_planned("1", 1_600), _planned("2", 1_060)), "2 do; ask again in 1 min, when one of them starts"),
        ((_queued("1"),), "1 does; ask again later"),
        ((_planned("1", 1_000),), "1 does; ask again later"),
    ],
)
def test_a_refusal_says_when_to_ask_again(leases: tuple[Lease, ...], again: str) -> None:
    refusal = load_policy("admission", "aacp", PolicyOptions()).refusal(_request("9"), _NOW, _view(*leases))
    assert refusal is not None and refusal.endswith(again)


def test_leases_that_do_not_wait_are_not_counted() -> None:
    """Local leases, leases that have run, those whose start is yet to come, and the lease that is to be changed."""
    policy = load_policy("admission", "aacp", PolicyOptions())
    suspended = replace(_queued("1"), state=LeaseState.SUSPENDED_QUEUED, started=500)
    later = replace(_request("2"), kind=LeaseKind.DEADLINE, start=2_000, deadline=9_000)
    due = Lease(replace(later, start=_NOW), 2, LeaseState.QUEUED)
    assert policy.refusal(_request("9"), _NOW, _view(due)) is not None, "it may start from now on"
    held = (Holding((2,), 2_000, 2_000, 2_100, 2_100),)
    planned = Lease(later, 2, LeaseState.SCHEDULED, holdings=held)
    assert policy.refusal(_request("9"), _NOW, _view(suspended, planned, _queued("3", None))) is None
    assert policy.refusal(_request("4"), _NOW, _view(_queued("4"))) is None


def test_the_load_is_learnt_from_arrivals() -> None:
    """contention F52: 4 hosts; a local request takes 2 of them for 100 s, an external one 1 of them for 200 s."""
    policy = _taught("pacp", [*_arrivals(100, 11, 100, 2, None), *_arrivals(80, 11, 200, 1, "peer", first=200)])
    load = policy.load(_view(), 1_000)
    assert load is not None
    assert load.external_rate == pytest.approx(1 / 80)
    assert load.external_work == pytest.approx(50)
    assert load.local_rate == pytest.approx(1 / 100)
    assert load.local_service_rate == pytest.approx(1 / 50)
    assert load.local_variation == pytest.approx(0, abs=1e-6)
    assert policy.places(_view(), 1_000) == most_places(load, 150)


def test_one_local_request_gives_no_arrival_rate() -> None:
    policy = _taught("pacp", [*_arrivals(100, 1, 100, 2, None), *_arrivals(80, 11, 200, 1, "peer", first=200)])
    load = policy.load(_view(), 1_000)
    assert load is not None
    assert load == Load(load.external_rate, load.external_work), "the load of local requests is that of none"


def test_the_most_contended_class_counts() -> None:
    """Memory is scarcer than processors here: 512 of 4,096 MB against 1 of 1 processor is not, 4 GB would be."""
    heavy = [
        replace(each, nodes=(NodeSet(1, Resources({VCPU: 1, MEMORY_MB: 16_384})),))
        for each in _arrivals(80, 11, 200, 1, "peer")
    ]
    load = _taught("pacp", heavy).load(_view(), 800)
    assert load is not None and load.external_work == pytest.approx(200 * 16_384 / (4 * 4_096))


@pytest.mark.parametrize("name", ["pacp", "racp"])
def test_without_enough_knowledge_no_request_is_refused(name: str) -> None:
    few = _taught(name, _arrivals(80, 9, 200, 1, "peer"))
    assert few.places(_view(), 1_000) is None


@pytest.mark.parametrize(("duration", "counted"), [(UNLIMITED, 86_400), (UNLIMITED - 1, 7 * 86_400), (200, 200)])
def test_leases_of_years_count_with_an_estimate(duration: int, counted: int) -> None:
    load = _taught("pacp", _arrivals(80, 20, duration, 1, "peer")).load(_view(), 1_000)
    assert load == _taught("pacp", _arrivals(80, 20, counted, 1, "peer")).load(_view(), 1_000)
    assert load is not None
    shorter = _taught("pacp", _arrivals(80, 20, duration, 1, "peer"), duration_endless="100", duration_longest="100")
    assert shorter.load(_view(), 1_000) == _taught("pacp", _arrivals(80, 20, 100, 1, "peer")).load(_view(), 1_000)


def test_racp_divides_the_external_service_rate_by_the_local_arrival_rate() -> None:
    """contention F49: external service rate over local arrival rate, at least 1."""
    external = _arrivals(80, 11, 200, 1, "peer", first=200)
    assert _taught("racp", [*_arrivals(200, 6, 100, 2, None), *external]).places(_view(), 1_000) == 4
    assert _taught("racp", [*_arrivals(1, 11, 100, 2, None, first=990), *external]).places(_view(), 1_000) == 1
    assert _taught("racp", external).places(_view(), 1_000) is None, "no local requests"


def test_a_long_pause_lowers_the_arrival_rate() -> None:
    policy = _taught("pacp", _arrivals(80, 11, 200, 1, "peer"))
    load = policy.load(_view(), 100_800)
    assert load is not None and load.external_rate == pytest.approx(1 / 100_000)


def test_a_learnt_load_survives_a_restart() -> None:
    policy = _taught("pacp", [*_arrivals(100, 11, 100, 2, None), *_arrivals(80, 11, 200, 1, "peer", first=200)])
    learnt = policy.take_changes()
    assert sorted(learnt) == ["external", "local"] and policy.take_changes() == {}
    other = load_policy("admission", "pacp", PolicyOptions())
    other.restore(learnt)
    assert isinstance(other, LearntLoad)
    assert other.load(_view(), 1_000) == policy.load(_view(), 1_000)


def test_only_arrivals_are_learnt() -> None:
    """A lease that starts, or is placed anew, is not a new request."""
    policy = load_policy("admission", "pacp", PolicyOptions())
    known = Lease(_request("1"), 1, LeaseState.QUEUED)
    policy.observe(Outcome.PLACED, replace(known, state=LeaseState.SCHEDULED), known, 5)
    policy.observe(Outcome.STARTED, replace(known, state=LeaseState.ACTIVE), None, 5)
    assert policy.take_changes() == {}
    policy.observe(Outcome.QUEUED, known, None, 5)
    assert list(policy.take_changes()) == ["external"]


@pytest.mark.parametrize("origin", [None, "peer"])
def test_a_request_too_large_for_the_site_is_no_load(origin: str | None) -> None:
    """A request for far too much has no request of a peer refused; requests that this policy refuses count."""
    policy = _taught("racp", [*_arrivals(200, 11, 100, 2, None), *_arrivals(80, 11, 200, 1, "peer", first=200)])
    before = policy.places(_view(), _NOW)
    assert before is not None and before > 1
    policy.take_changes()
    for number in range(200):
        absurd = Lease(_request(f"x{number}", origin, _NOW, 10**8, 10**6), number, LeaseState.REJECTED)
        policy.observe(Outcome.REFUSED, absurd, None, _NOW)
    assert (policy.places(_view(), _NOW), policy.take_changes()) == (before, {})
    full = _view(*(_queued(str(number)) for number in range(before)))
    request = _request("y", "peer", _NOW)
    assert policy.refusal(request, _NOW, full) is not None
    policy.observe(Outcome.REFUSED, Lease(request, 1, LeaseState.REJECTED), None, _NOW)
    assert list(policy.take_changes()) == ["external"]


_STORED = {"number": 11, "latest": 900, "gap": 80.0, "work": {"VCPU": 200.0}, "squares": {"VCPU": 4e4}}


@pytest.mark.parametrize(
    "change",
    [
        {"number": "many"},
        {"number": -1},
        {"gap": float("nan")},
        {"gap": -1.0},
        {"work": {"VCPU": float("inf")}},
        {"work": None},
        {"work": ["VCPU"]},
        {"squares": {}},
        {"latest": float("inf")},
        {"latest": None},
    ],
)
@pytest.mark.parametrize("name", ["pacp", "racp"])
def test_damaged_entries_are_not_used(name: str, change: dict[str, object]) -> None:
    policy = load_policy("admission", name, PolicyOptions())
    policy.restore({"external": {**_STORED, **change}, "local": {**_STORED}})
    assert isinstance(policy, LearntLoad)
    assert policy.load(_view(), _NOW) is None and policy.places(_view(), _NOW) is None
    assert policy.refusal(_request("9"), _NOW, _view(_queued("1"))) is None
    policy.restore({"external": _STORED, "local": {"written by": "another version"}})
    assert policy.load(_view(), _NOW) == Load(1 / 100, 50.0)


_EXTREMES = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


@given(_EXTREMES.filter(bool), _EXTREMES.filter(bool), _EXTREMES)
def test_racp_gives_a_number_whatever_the_load(work: float, external_rate: float, local_rate: float) -> None:
    found = places_by_rates(Load(external_rate, work, local_rate))
    assert found is None or 1 <= found <= 10_000


@pytest.mark.parametrize("name", ["pacp", "racp", "aacp"])
def test_an_engine_that_is_restarted_decides_as_before(name: str) -> None:
    """Requests arrive at one policy, and at one that is made anew from what was stored before each of them."""
    policy, stored = load_policy("admission", name, PolicyOptions()), dict[str, Learnt | None]()
    arrivals = [*_arrivals(100, 40, 100, 2, None), *_arrivals(30, 120, 200, 1, "peer", first=200)]
    view, refused = _view(_queued("1"), _queued("2")), 0
    for number, request in enumerate(sorted(arrivals, key=lambda each: each.submitted)):
        other = load_policy("admission", name, PolicyOptions())
        other.restore({side: learnt for side, learnt in json.loads(json.dumps(stored)).items() if learnt is not None})
        answers = [each.refusal(request, request.submitted, view) for each in (policy, other)]
        assert answers[0] == answers[1]
        refused += answers[0] is not None
        outcome = Outcome.QUEUED if answers[0] is None else Outcome.REFUSED
        state = LeaseState.QUEUED if answers[0] is None else LeaseState.REJECTED
        lease = Lease(request, number, state)
        for each in (policy, other):
            each.observe(outcome, lease, None, request.submitted)
        stored |= policy.take_changes()
        assert {**stored, **other.take_changes()} == stored
    assert refused > 10


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("admission_threshold", "-1"),
        ("admission_low_urgency_share", "1.5"),
        ("admission_low_urgency_ratio", "x"),
        ("admission_least_places", "-1"),
        ("admission_window", "0.5"),
    ],
)
def test_options_out_of_range_are_refused(option: str, value: str) -> None:
    with pytest.raises(InvalidValueError, match=f"policy option {option}"):
        load_policy("admission", "pacp", PolicyOptions({option: value}))


@pytest.mark.parametrize("name", ["pacp", "racp", "aacp", "cacp"])
def test_an_overloaded_site_refuses_only_requests_of_peers(name: str) -> None:
    """Requests of peers arrive twice as fast as they can be served; local ones are never refused by the policy."""
    leases = []
    for number in range(1, 81):
        origin = None if number % 8 == 0 else "peer"
        leases.append(WorkloadLease(_request(str(number), origin, number * 20, 200, 1)))
    site = Site.homogeneous(4, Resources({VCPU: 1, MEMORY_MB: 4096}))
    settings = RunSettings(
        policies={"admission": name},
        planning=PlanningOptions(backfilling_limit=None),
        engine=EngineOptions(explain_refusals=False),
    )
    result = Run(Workload("overload", tuple(leases), site), settings).execute()
    refused = [lease for lease in result.leases if lease.state is LeaseState.REJECTED]
    assert all(lease.request.origin == "peer" and lease.reason.startswith("origin: at most") for lease in refused)
    if name == "cacp":
        assert not refused
    else:
        assert len(refused) > 10
        waits = [lease.started - lease.request.submitted for lease in result.leases if lease.started is not None]
        assert max(waits) < 1_000


def test_the_policy_computes_what_the_model_does() -> None:
    """contention 9.3: with the threshold given, the number of places is that of the model."""
    load = Load(1 / 80, 50.0, 1 / 100, 1 / 50)
    policy = _taught(
        "pacp",
        [*_arrivals(100, 11, 100, 2, None), *_arrivals(80, 11, 200, 1, "peer", first=200)],
        admission_threshold="500",
    )
    assert policy.places(_view(), 1_000) == most_places(load, 500)


def test_while_local_requests_take_all_of_the_site_no_lease_of_a_peer_may_wait() -> None:
    """contention F48: algorithm 4 with a local load of 1 or more."""
    external = _arrivals(80, 11, 200, 1, "peer", first=200)
    policy = _taught("pacp", [*_arrivals(50, 20, 1_000, 4, None), *external], admission_least_places="3")
    load = policy.load(_view(), 1_000)
    assert load is not None and load.local_load >= 1

    assert policy.places(_view(), 1_000) == 0
    refusal = policy.refusal(_request("one more", "peer", 1_000, 200, 1), 1_000, _view())
    assert refusal is not None and refusal.startswith("origin: local requests take all of this site, so no lease")
    assert policy.refusal(_request("local", None, 1_000, 200, 1), 1_000, _view()) is None
