"""Why a request is refused, and what would be granted instead (issue 2, item 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.plan.changing.outages import block
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.plan.explaining.explain import Refusal, explain, too_large
from lease_scheduler.plan.explaining.trials import Trials
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner

RESERVATION, IMMEDIATE, DEADLINE = LeaseKind.RESERVATION, LeaseKind.IMMEDIATE, LeaseKind.DEADLINE
GPU = frozenset({"GPU"})


@pytest.fixture
def busy(make_planner: MakePlanner, make_lease: MakeLease) -> Planner:
    """Three hosts, two of them held from 1000 to 2000."""
    planner = make_planner(3)
    planner.place(planner.plan.put(make_lease(RESERVATION, 2, 1000, start=1000)), 0)
    return planner


def _refused(
    planner: Planner, make_lease: MakeLease, kind: LeaseKind, nodes: int, now: int = 0, **terms: Any
) -> Refusal:
    lease = make_lease(kind, nodes, **terms)
    with pytest.raises(NotPlannableError):
        planner.place(lease, now)
    return explain(planner, lease.request, now)


def test_a_refusal_names_hosts_and_every_nearest_term_that_fits(busy: Planner, make_lease: MakeLease) -> None:
    """The same later, fewer nodes, a shorter duration; each could be granted."""
    refusal = _refused(busy, make_lease, RESERVATION, 2, start=500, duration=1000)
    assert (refusal.reason, refusal.hosts) == ("capacity", ("host-1", "host-2"))
    assert refusal.alternatives == (
        Alternative("start", 2000, 2, 1000),
        Alternative("nodes", 500, 1, 1000),
        Alternative("duration", 500, 2, 500),
    )
    assert refusal.message == (
        "nodes: no place for 2 nodes for 16 min 40 s at that time; taken: host-1, host-2; "
        "would fit: the same terms 25 min later, 1 node, 8 min 20 s"
    )
    for offer in refusal.alternatives:
        lease = make_lease(RESERVATION, offer.nodes, offer.duration, start=offer.start)
        placed = busy.place(busy.plan.put(lease), 0)
        busy.plan.remove(busy.release(placed).lease_id)


def test_a_gap_that_is_too_short_is_not_offered_as_a_start(busy: Planner, make_lease: MakeLease) -> None:
    """If nothing is free at the start, a shorter duration does not help."""
    busy.place(busy.plan.put(make_lease(RESERVATION, 3, 100, start=2300)), 0)
    refusal = _refused(busy, make_lease, RESERVATION, 3, start=1500, duration=301)
    assert refusal.alternatives == (Alternative("start", 2400, 3, 301), Alternative("nodes", 1500, 1, 301))


def test_an_offered_duration_leaves_time_for_the_shutdown(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F72: 500 s are free, of which 30 are needed for the shutdown."""
    planner = make_planner(1, shutdown_time=30)
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 100, start=500)), 0)
    refusal = _refused(planner, make_lease, IMMEDIATE, 1, duration=1000)
    assert refusal.alternatives == (Alternative("start", 630, 1, 1000), Alternative("duration", 0, 1, 470))


def test_a_start_in_the_past_is_named_as_the_reason(busy: Planner, make_lease: MakeLease) -> None:
    """haizea F50: the next possible start is offered."""
    refusal = _refused(busy, make_lease, RESERVATION, 3, now=700, start=600, duration=500)
    assert (refusal.reason, refusal.alternatives) == ("past", (Alternative("start", 2000, 3, 500),))
    assert refusal.message == "start: 1 min 40 s in the past; would fit: the same terms 23 min 20 s later"


def test_a_refusal_says_when_nothing_similar_fits(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(1)
    block(planner.plan, 0, 0, FOREVER)
    refusal = _refused(planner, make_lease, RESERVATION, 1, start=10)
    assert refusal.alternatives == ()
    assert refusal.message.endswith("taken: host-1; nothing similar would fit")


def test_of_many_taken_hosts_some_are_named(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(30)
    planner.place(planner.plan.put(make_lease(RESERVATION, 30, 100, start=0)), 0)
    refusal = _refused(planner, make_lease, RESERVATION, 1, start=10)
    assert "; taken: host-1, host-2, host-3 and others; " in refusal.message
    assert "host" not in refusal.anonymous


def test_all_of_few_taken_hosts_are_named(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3)
    planner.place(planner.plan.put(make_lease(RESERVATION, 3, 100, start=0)), 0)
    refusal = _refused(planner, make_lease, RESERVATION, 1, start=10)
    assert "; taken: host-1, host-2, host-3; " in refusal.message


def test_hosts_that_could_never_hold_the_lease_are_not_called_taken(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F3: the host without the trait is not blamed."""
    site = Site((Host("plain", VM), Host("gpu", VM, GPU)))
    planner = make_planner(site=site)
    sets = (NodeSet(1, VM, GPU),)
    planner.place(planner.plan.put(make_lease(RESERVATION, node_sets=sets, start=0)), 0)
    planner.place(planner.plan.put(make_lease(RESERVATION, start=0)), 0)
    assert _refused(planner, make_lease, RESERVATION, 1, node_sets=sets, start=10).hosts == ("gpu",)


def test_fewer_nodes_are_offered_only_for_a_single_node_set(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Which of different node sets to leave out is the project's decision."""
    planner = make_planner(2)
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 100, start=0)), 0)
    sets = NodeSet(1, VM), NodeSet(1, Resources({VCPU: 1}))
    refusal = _refused(planner, make_lease, RESERVATION, 2, node_sets=sets, start=10, duration=50)
    assert [offer.change for offer in refusal.alternatives] == ["start"]


def test_for_a_deadline_that_cannot_be_met_a_later_start_is_offered(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F56: with a later deadline it would be possible."""
    planner = make_planner(1)
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 1000, start=0)), 0)
    refusal = _refused(planner, make_lease, DEADLINE, 1, start=100, duration=500, deadline=1400)
    assert (refusal.reason, refusal.hosts) == ("deadline", ("host-1",))
    assert refusal.alternatives == (Alternative("start", 1000, 1, 500),)
    assert refusal.message.startswith(
        "deadline: no place for 1 node for 8 min 20 s from start to deadline; would fit: "
    )


@pytest.mark.parametrize(
    ("node_set", "constraint", "words"),
    [
        (NodeSet(1, Resources({VCPU: 9})), "size", "nodes: no host is large enough for a node of"),
        (NodeSet(1, VM, frozenset({"FPGA"})), "traits", "nodes: no host with FPGA is large enough"),
        (NodeSet(1, Resources({VCPU: 1, "TPU": 1})), "size", "nodes: no host is large enough for a node of"),
        (NodeSet(3, VM), "size", "nodes: 3 nodes are more than the whole site can hold"),
        (NodeSet(2, VM, GPU), "size", "nodes: 2 nodes are more than the whole site can hold"),
    ],
)
def test_a_request_too_large_for_the_empty_site_is_refused_with_the_reason(
    make_planner: MakePlanner, make_lease: MakeLease, node_set: NodeSet, constraint: str, words: str
) -> None:
    """haizea 8.2, 20: too large, or without the traits, at any time."""
    planner = make_planner(site=Site((Host("plain", VM), Host("gpu", VM, GPU))))
    request = make_lease(RESERVATION, node_sets=(node_set,), start=0).request
    refusal = explain(planner, request, 0)
    assert (refusal.reason, refusal.hosts) == (constraint, ())
    assert refusal.message.startswith(words)
    assert refusal.message.startswith(too_large(planner.context, request) or "?")


def test_a_request_larger_than_the_site_is_offered_as_many_nodes_as_fit(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Also with victims; the number that fits is the same however many are requested."""
    planner = make_planner(4)
    _running(planner, make_lease, 3)
    for kind, alternatives in (
        (RESERVATION, (Alternative("nodes", 100, 4, 50, (("best-effort", 3),)), Alternative("nodes", 100, 1, 50))),
        (IMMEDIATE, (Alternative("nodes", 100, 1, 50),)),
    ):
        terms = {"start": 100} if kind is RESERVATION else {}
        request = make_lease(kind, 1_000_000, 50, **terms).request
        refusal = explain(planner, request, 100)
        assert (refusal.reason, refusal.alternatives) == ("size", alternatives)
    deadline = make_lease(DEADLINE, 5, 50, start=100, deadline=20_000).request
    assert explain(planner, deadline, 100).alternatives[0].nodes == 4


def _running(planner: Planner, make_lease: MakeLease, count: int, until: int = 10_000) -> None:
    """Fill the plan with best-effort leases of one node each that run since 0."""
    for _ in range(count):
        lease = make_lease(LeaseKind.BEST_EFFORT, 1, until)
        planner.enqueue(planner.plan.put(lease))
    planner.process_queue(0)
    for lease in list(planner.plan.leases.values()):
        planner.plan.put(replace(lease.to(LeaseState.ACTIVE), active_since=0, started=0))


def test_alternatives_with_preemption_are_offered_beside_those_without(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Three of four hosts are filled by best-effort work, the fourth by a reservation."""
    planner = make_planner(4)
    _running(planner, make_lease, 3)
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 1000, start=100)), 100)
    refusal = _refused(planner, make_lease, RESERVATION, 4, now=100, start=100, duration=500)
    victims = (("best-effort", 3),)
    assert refusal.alternatives == (
        Alternative("start", 1100, 4, 500, victims),
        Alternative("start", 10_000, 4, 500),
        Alternative("nodes", 100, 3, 500, victims),
    )
    assert refusal.message.endswith(
        "would fit: the same terms 16 min 40 s later (preempting 3 best-effort), the same terms 2 h 45 min later, "
        "3 nodes (preempting 3 best-effort)"
    )
    without = explain(planner, make_lease(RESERVATION, 4, 500, start=100).request, 100, may_preempt=False)
    assert without.alternatives == (Alternative("start", 10_000, 4, 500),)


def test_with_a_grace_period_the_same_terms_are_offered_once_it_is_over(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """One second earlier it would be refused."""
    planner = make_planner(2, preemption_grace=60)
    _running(planner, make_lease, 2)
    refusal = _refused(planner, make_lease, RESERVATION, 2, now=1000, start=1000, duration=500)
    soonest, free = refusal.alternatives
    assert (soonest.change, soonest.preempted, free.start) == ("start", (("best-effort", 2),), 10_000)
    assert 1060 <= soonest.start < 1200
    with planner.plan.trial():
        planner.place(make_lease(RESERVATION, 2, 500, start=soonest.start), 1000)
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(RESERVATION, 2, 500, start=soonest.start - 1), 1000)


def test_a_refusal_says_that_deadline_leases_are_in_the_way(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The refusal says how many, not which, and only if they are the reason."""
    planner = make_planner(4)
    for _ in range(2):
        planner.place(planner.plan.put(make_lease(DEADLINE, 1, 1000, start=0, deadline=1050)), 0)
    _running(planner, make_lease, 1)
    told = "; 2 deadline leases there would miss their deadlines if preempted; would fit: "
    refusal = _refused(planner, make_lease, RESERVATION, 4, start=500, duration=500)
    assert told in refusal.message and told in refusal.anonymous
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 1000, start=500)), 0)
    for nodes in (4, 5):
        refusal = explain(planner, make_lease(RESERVATION, nodes, 500, start=500).request, 0)
        assert "deadline leases" not in refusal.message, "without them it would not fit either"


def test_one_deadline_lease_is_counted_in_the_singular(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(1)
    planner.place(planner.plan.put(make_lease(DEADLINE, 1, 1000, start=0, deadline=1050)), 0)
    refusal = _refused(planner, make_lease, RESERVATION, 1, start=500, duration=500)
    assert "; 1 deadline lease there would miss its deadline if preempted" in refusal.message


def test_deadline_leases_that_may_not_be_displaced_are_not_named(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """If the policy never allows it, their deadlines do not matter."""
    planner = make_planner(1, preemption=load_policy("preemption", "no-preemption", PolicyOptions()))
    planner.place(planner.plan.put(make_lease(DEADLINE, 1, 1000, start=0, deadline=1050)), 0)
    assert "deadline lease" not in _refused(planner, make_lease, RESERVATION, 1, start=500, duration=500).message


def test_a_trial_in_which_many_leases_are_moved_counts_as_several(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """So a search stays cheap where reservations displace deadline leases, which costs far more than a look."""
    planner = make_planner(40)
    for _ in range(40):
        planner.place(planner.plan.put(make_lease(DEADLINE, 1, 1000, start=0, deadline=100_000)), 0)
    few, many = (make_lease(RESERVATION, nodes, 500, start=10).request for nodes in (1, 40))
    trials = Trials(planner, 0, 7)
    assert [trials.of(request) is not None for request in (few, many, few)] == [True, True, False]


def test_hosts_that_become_free_only_after_centuries_are_not_offered(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """A lease up to the year 9999 leaves nothing worth waiting for."""
    planner = make_planner(1)
    planner.place(planner.plan.put(make_lease(RESERVATION, 1, 250_000_000_000, start=0)), 0)
    refusal = _refused(planner, make_lease, RESERVATION, 1, start=10)
    assert refusal.alternatives == ()


def test_too_large_counts_nodes_that_share_hosts_and_mixed_node_sets(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F5: as many as hosts, or more than hosts, or two sets that need the same host."""
    site = Site((Host("large", Resources({VCPU: 4, MEMORY_MB: 4})), Host("small", Resources({VCPU: 1, MEMORY_MB: 1}))))
    planner = make_planner(site=site)
    small, large = Resources({VCPU: 1, MEMORY_MB: 1}), Resources({VCPU: 3, MEMORY_MB: 3})
    for sets, fits in (
        ((NodeSet(5, small),), True),
        ((NodeSet(6, small),), False),
        ((NodeSet(2, small), NodeSet(1, large)), True),
        ((NodeSet(3, small), NodeSet(1, large)), False),
    ):
        request = make_lease(RESERVATION, node_sets=sets, start=0).request
        assert (too_large(planner.context, request) is None) is fits


def test_too_large_counts_usable_hosts_before_it_maps_nodes(
    make_planner: MakePlanner, make_lease: MakeLease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them holds one at least, so only more nodes than that have to be mapped."""
    mapped: list[int] = []
    monkeypatch.setattr(
        "lease_scheduler.plan.explaining.explain.map_vms", lambda *given: mapped.append(given[1].node_count)
    )
    planner = make_planner(site=Site((Host("plain", VM), Host("fast", VM, GPU), Host("faster", VM, GPU))))
    for nodes in (1, 2, 3):
        terms = make_lease(RESERVATION, node_sets=(NodeSet(nodes, VM, GPU),), start=0).request
        assert (too_large(planner.context, terms) is None) is (nodes < 3)
    assert mapped == [3]


def test_a_message_does_not_show_the_share_of_a_host_as_a_resource(make_planner: MakePlanner) -> None:
    """The resource that makes hosts exclusive was not requested by the project."""
    planner = make_planner(site=Site((Host("plain", VM.replaced(HOST_SHARE=WHOLE_HOST)),)))
    shared = LeaseRequest("1", RESERVATION, (NodeSet(1, Resources({VCPU: 9, HOST_SHARE: 1})),), 0, 10, 0)
    assert too_large(planner.context, shared) == "nodes: no host is large enough for a node of VCPU:9"
    whole = replace(shared, nodes=(NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST}), GPU),))
    assert (
        too_large(planner.context, whole)
        == "nodes: no host with GPU is large enough for a node that needs a host for itself"
    )
