"""Fair shares: tags as the dissertation defines them, and how far flows may be apart (shirako E13, F97)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, FlowQueue, QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.fairness import Backlog, lag_bound, largest_lag
from lease_scheduler.simulation.shares.run import SharesRun

_QUEUES = st.lists(st.tuples(st.integers(1, 40), st.sampled_from([0, 0, 0, 5, 20, 60])), min_size=1, max_size=8)


def _queue(described: list[tuple[int, int]]) -> FlowQueue:
    queue = FlowQueue(1)
    requests = [QueuedRequest(str(number), cost, order=number) for number, (cost, _) in enumerate(described)]
    gaps = {str(number): gap * UNIT for number, (_, gap) in enumerate(described) if number}
    queue.restore(0, gaps, requests)
    return queue


@settings(max_examples=300, deadline=None)
@given(_QUEUES, st.data())
def test_a_promotion_rewrites_the_tags_as_the_dissertation_does(
    described: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Formulas 5.5 to 5.8 without gaps; with gaps they differ only by the request that moves behind one."""
    queue = _queue(described)
    position = data.draw(st.integers(0, len(described) - 1))
    before, tail, gaps = queue.tags(), queue.tail, queue.total_gap
    cost = described[position][0] * UNIT

    request, start = queue.promote(position)

    assert (request.key, start) == (str(position), before[0][0])
    after = dict(zip((int(each.key) for each in queue.requests), queue.tags(), strict=True))
    assert list(after) == [number for number in range(len(described)) if number != position]
    lost = any(gap for _, gap in described[1 : position + 1])
    for number, (first, end) in after.items():
        assert end - first == described[number][0] * UNIT
        if not lost:
            raised = cost if number < position else 0
            assert first == before[number][0] + raised
    assert queue.tail >= tail
    if queue.tail == tail and position and queue.requests:
        assert queue.total_gap + (queue.clock - before[0][0] - cost) == gaps


@settings(max_examples=200, deadline=None)
@given(_QUEUES, st.integers(1, 30), st.integers(0, 400))
def test_taking_back_undoes_a_promotion_and_a_credit_stops_at_the_first_gap(
    described: list[tuple[int, int]], refund: int, virtual_time: int
) -> None:
    """What lost its place is queued with its old tags; what follows a gap keeps its tags when the flow is credited."""
    queue = _queue([(cost, 0) for cost, _ in described])
    before = queue.tags()
    for position in range(len(described)):
        request, _ = queue.promote(position)
        queue.put_back(request)
        assert queue.tags() == before

    queue = _queue(described)
    before = queue.tags()
    first_gap = next((number for number, (_, gap) in enumerate(described) if number and gap), len(described))
    queue.credit(refund)
    for number, (start, _) in enumerate(queue.tags()):
        assert start == before[number][0] - (refund * UNIT if number < first_gap else 0)

    tail = queue.tail
    queue.arrive(QueuedRequest("new", 1, order=99), virtual_time * UNIT)
    assert queue.tags()[-1][0] == max(tail, virtual_time * UNIT)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 4, 16]),
    st.lists(st.integers(1, 9), min_size=2, max_size=3),
    st.integers(0, 10_000),
    st.booleans(),
)
def test_backlogged_flows_stay_within_the_bound(hosts: int, weights: list[int], seed: int, disturbed: bool) -> None:
    """Theorems 5.3.1 and 5.6.1: in every interval between completions, whatever ends early or is preempted."""
    total = sum(weights)
    longest = 20
    loads = [FlowLoad(str(number), weight / total, (1, longest), load=3.0) for number, weight in enumerate(weights)]
    ticks = 40 * longest // hosts + 100
    run = SharesRun(loads, hosts, ticks, WinksOptions(), bound=40 * longest * hosts, seed=seed)
    preempted = 0
    if disturbed:
        serve = run.serve

        def serve_and_disturb(now: int) -> None:
            nonlocal preempted
            serve(now)
            for load in loads:
                starts = run.result(load.name).starts
                if now % 7 == 3 and starts and starts[-1].start < now < starts[-1].end:
                    if now % 2:
                        run.end_early(load.name, len(starts) - 1, now)
                    else:
                        run.preempt(load.name, len(starts) - 1, now)
                        preempted += 1

        run.serve = serve_and_disturb  # type: ignore[method-assign]
    result = run.execute()

    for one in range(len(weights)):
        for other in range(one):
            flows = [result.flows[one], result.flows[other]]
            done = [
                [(each.end, each.width * each.duration) for each in flow.starts if each.end <= ticks] for flow in flows
            ]
            backlogs = [Backlog(Fraction(weights[each], total), longest) for each in (one, other)]
            lag = largest_lag(done[0], done[1], backlogs[0].weight, backlogs[1].weight)
            assert lag <= lag_bound(hosts, backlogs[0], backlogs[1], preempted)
    assert result.efficiency() > 0.5
