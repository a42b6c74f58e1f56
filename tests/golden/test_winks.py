"""The worked examples of Grit 2007, chapter 5, as far as they concern shares (shirako G1, G2, G4, G6, G7, G11).

The figures of the dissertation are known by their captions only; G1 is a reconstruction that yields all numbers of the
captions of figures 5.2 to 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from lease_scheduler.policy.queueing.winks.division import Division, ElasticFlow, ElasticRequest
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, FlowQueue, QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Accounting, ShareLimit, Shares, WinksOptions, normalised
from lease_scheduler.simulation.shares.calendar import WidthCalendar
from lease_scheduler.simulation.shares.fairness import Backlog, lag_bound


def _queue(weight: float, costs: Sequence[int], gaps: dict[int, int] | None = None, clock: int = 0) -> FlowQueue:
    """Return a queue of requests p1, p2, ... with gaps before some of them."""
    queue = FlowQueue(weight)
    requests = [QueuedRequest(f"p{number}", cost, order=number) for number, cost in enumerate(costs, 1)]
    queue.restore(clock * UNIT, {f"p{number}": gap * UNIT for number, gap in (gaps or {}).items()}, requests)
    return queue


def _tags(queue: FlowQueue) -> dict[str, tuple[float, float]]:
    tags = zip(queue.requests, queue.tags(), strict=True)
    return {request.key: (normalised(start), normalised(end)) for request, (start, end) in tags}


class _Example:
    """The two flows of figures 5.2 to 5.4: nine hosts, weights 0.6 and 0.4, three requests each at t = 0.

    :param reorders: whether a request may overtake others of its flow that do not fit
    """

    def __init__(self, options: WinksOptions, *, reorders: bool = True) -> None:
        self.shares = Shares(options, 9)
        self.calendar = WidthCalendar(9, 500)
        self._reorders = reorders
        self.placed: list[tuple[str, int]] = []
        asked = {"f": (0.6, [(4, 10), (6, 10), (2, 20)]), "g": (0.4, [(1, 40), (2, 40), (2, 20)])}
        for name, (weight, requests) in asked.items():
            flow = self.shares.flow(name, weight)
            for number, (width, duration) in enumerate(requests, 1):
                self._arrive(name, f"{name}{number}", width, duration)
            assert flow.weight == weight

    def _arrive(self, name: str, key: str, width: int, duration: int) -> None:
        request = QueuedRequest(key, width * duration, duration, width, width > 1, order=int(key[1:]))
        self.shares.arrive(self.shares.flows[name], request)

    def serve(self, now: int) -> None:
        """Serve the flows at a tick, one request after the other by the lowest clock."""
        share, latest = self.shares.share_per_weight(now), now + self.shares.options.window
        blocked: set[str] = set()
        while True:
            eligible = [f for f in self.shares.flows.values() if f.queue.requests and f.name not in blocked]
            if not eligible:
                return
            flow = min(eligible, key=lambda each: (each.queue.clock, each.index))
            for position, request in enumerate(flow.queue.requests[: None if self._reorders else 1]):
                end = latest if request.is_wide else now
                start = self.calendar.earliest(now, end, request.duration, request.width)
                if start is not None and self.shares.may_start(flow, request, start, share):
                    self.shares.schedule(flow, position, start, now, share)
                    self.calendar.reserve(start, request.duration, request.width)
                    self.placed.append((request.key, start))
                    break
            else:
                blocked.add(flow.name)

    def clocks(self) -> tuple[float, float]:
        """Return the clocks of both flows."""
        f, g = (normalised(self.shares.flows[name].queue.clock) for name in "fg")
        return f, g

    def next_starts(self) -> tuple[float, float]:
        """Let a request of each flow arrive, and return their start tags."""
        self._arrive("f", "f4", 1, 1)
        self._arrive("g", "g4", 1, 1)
        return _tags(self.shares.flows["f"].queue)["f4"][0], _tags(self.shares.flows["g"].queue)["g4"][0]


def test_initial_tags() -> None:
    """shirako G1: start and finish tags of the three requests of each flow."""
    example = _Example(WinksOptions())

    f, g = (example.shares.flows[name].queue for name in "fg")
    assert [bounds for start, end in f.tags() for bounds in (normalised(start), normalised(end))] == pytest.approx(
        [0, 66.667, 66.667, 166.667, 166.667, 233.333], abs=0.001
    )
    assert list(_tags(g).values()) == [(0, 100), (100, 300), (300, 400)]


def test_figure_5_2_without_reordering() -> None:
    """shirako G1, figure 5.2: f waits for six hosts and falls behind; the next arrival of f starts at v."""
    example = _Example(WinksOptions(), reorders=False)

    example.serve(0)
    assert example.placed == [("f1", 0), ("g1", 0), ("g2", 0), ("g3", 0)]
    example.serve(10)

    assert example.clocks() == pytest.approx((66.667, 400), abs=0.001)
    assert normalised(example.shares.virtual_time) == 300
    assert example.next_starts() == (300, 400)
    assert normalised(example.shares.flows["f"].queue.total_gap) == pytest.approx(66.667, abs=0.001)


def test_figure_5_3_with_reordering() -> None:
    """shirako G1, figure 5.3: the third request of f overtakes the second one."""
    example = _Example(WinksOptions())

    example.serve(0)
    assert example.placed == [("f1", 0), ("g1", 0), ("f3", 0), ("g2", 0)]
    assert _tags(example.shares.flows["f"].queue)["f2"] == pytest.approx((133.333, 233.333), abs=0.001)
    example.serve(10)

    assert example.placed[4:] == [("g3", 10)]
    assert example.clocks() == pytest.approx((133.333, 400), abs=0.001)
    assert normalised(example.shares.virtual_time) == 300
    assert example.next_starts() == (300, 400)


def test_figure_5_4_with_a_window() -> None:
    """shirako G1, figure 5.4: the wide request of f is scheduled ahead; g3 exceeds what g may use of the window."""
    example = _Example(WinksOptions(window=40))

    example.serve(0)

    assert sorted(example.placed) == [("f1", 0), ("f2", 10), ("f3", 20), ("g1", 0), ("g2", 0)]
    assert example.clocks() == pytest.approx((233.333, 300), abs=0.001)
    assert normalised(example.shares.virtual_time) == pytest.approx(166.667, abs=0.001)
    assert example.next_starts()[0] == pytest.approx(233.333, abs=0.001)
    assert normalised(example.shares.flows["f"].queue.total_gap) == pytest.approx(0, abs=0.001)


def test_figure_5_4_with_accounting_at_dispatch() -> None:
    """shirako P12: f2, which is scheduled ahead, is charged only when it starts."""
    example = _Example(WinksOptions(window=40, accounting=Accounting.DISPATCH))

    example.serve(0)

    assert example.placed[2:4] == [("f2", 10), ("f3", 0)]
    assert example.clocks()[0] == pytest.approx(133.333, abs=0.001)
    f = example.shares.flows["f"]
    assert normalised(example.shares.dispatch(f, 60)) == pytest.approx(133.333, abs=0.001)
    assert example.clocks()[0] == pytest.approx(233.333, abs=0.001)


def test_transformation() -> None:
    """shirako G2: p3 is served before p1 and p2, which get later tags by its cost; p4 keeps its own."""
    queue = _queue(0.5, [60, 40, 20, 10])
    assert list(_tags(queue).values()) == [(0, 120), (120, 200), (200, 240), (240, 260)]

    request, start = queue.promote(2)

    assert (request.key, start) == ("p3", 0)
    assert _tags(queue) == {"p1": (40, 160), "p2": (160, 240), "p4": (240, 260)}
    assert (normalised(queue.clock), normalised(queue.tail)) == (40, 260)


def test_gap_before_the_promoted_request() -> None:
    """shirako G2b: with equal costs, reordering keeps the gap where it was."""
    queue = _queue(1, [10, 10, 10], {3: 10})
    assert list(_tags(queue).values()) == [(0, 10), (10, 20), (30, 40)]

    queue.promote(2)

    assert _tags(queue) == {"p1": (10, 20), "p2": (30, 40)}
    assert (normalised(queue.tail), normalised(queue.total_gap)) == (40, 10)


def test_gap_and_tail_with_unequal_costs() -> None:
    """shirako G2c: p2 moves behind the gap; the tail stays, and the gaps together are as long as before."""
    queue = _queue(1, [10, 4, 20], {3: 46})
    assert list(_tags(queue).values()) == [(0, 10), (10, 14), (60, 80)]

    queue.promote(2)

    assert _tags(queue) == {"p1": (20, 30), "p2": (60, 64)}
    assert (normalised(queue.tail), normalised(queue.total_gap)) == (80, 46)
    queue.arrive(QueuedRequest("p4", 1, order=4), 0)
    assert _tags(queue)["p4"][0] == 80


def test_bound_of_the_lag() -> None:
    """shirako G4: theorem 5.3.1 for 100 hosts, weights 0.5 and 0.3, and requests of at most 200 node-ticks."""
    bound = lag_bound(100, Backlog(Fraction(1, 2), 200), Backlog(Fraction(3, 10), 200))

    assert bound == pytest.approx(107_733.33, abs=0.01)


def test_credit_and_overrun() -> None:
    """shirako G7: credit moves what is before the gap, an overrun moves everything."""
    queue = _queue(0.5, [10, 10, 10], {3: 60}, clock=100)
    assert list(_tags(queue).values()) == [(100, 120), (120, 140), (200, 220)]

    queue.credit(4 * (10 - 6))
    assert _tags(queue) == {"p1": (68, 88), "p2": (88, 108), "p3": (200, 220)}

    queue.charge(4 * 3)
    assert _tags(queue) == {"p1": (92, 112), "p2": (112, 132), "p3": (224, 244)}


def test_free_hosts_are_divided_by_weight() -> None:
    """shirako G6: ten free hosts, equal clocks, weights 0.5, 0.3 and 0.2."""
    weights = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    flows = [ElasticFlow(weight, Fraction(7), [ElasticRequest(1, 20, 5)]) for weight in weights]

    assert Division(10, flows).given == [[5], [3], [2]]


def test_a_flow_that_is_behind_gets_what_it_is_owed_first() -> None:
    """shirako G6: clocks of 10 and 30, weights of 0.5, a head of 5 ticks: 2 hosts; the rest goes by weight."""
    half = Fraction(1, 2)
    behind = ElasticFlow(half, Fraction(10), [ElasticRequest(1, 8, 5)])
    ahead = ElasticFlow(half, Fraction(30), [ElasticRequest(1, 8, 5)])

    assert Division(2, [ahead, behind]).given == [[0], [2]]
    assert Division(8, [ahead, behind]).given == [[3], [2 + 3]]


def test_a_request_that_gets_fewer_hosts_than_it_wants_is_charged_less() -> None:
    """shirako G6: 5 hosts of 8, for 5 ticks and a weight of 0.5: its finish tag and all later ones fall by 30."""
    queue = _queue(0.5, [8 * 5, 10, 10], {3: 4}, clock=10)
    before = _tags(queue)
    assert list(before["p1"]) == [10, 90]

    queue.correct(0, replace(queue.requests[0], cost=5 * 5))

    after = _tags(queue)
    assert list(after["p1"]) == [10, 60]
    assert all(after[key] == tuple(tag - 30 for tag in before[key]) for key in ("p2", "p3"))
    assert queue.promote(0)[1] == 10 * UNIT
    assert normalised(queue.clock) == 60


@pytest.mark.parametrize(("share", "speed_up"), [(0.3, 0.4286), (0.5, 1.0)])
def test_speed_up_without_the_share_limit(share: float, speed_up: float) -> None:
    """shirako G11: a flow that asks only for the future against one that asks only for the present (5.14, 5.15).

    For each request of the present, the clocks let it schedule this many of the future.
    """
    shares = Shares(WinksOptions(window=10_000, limit=ShareLimit.NONE), 1)
    ahead, present = shares.flow("ahead", share), shares.flow("present", round(1 - share, 10))
    for number in range(4_000):
        shares.arrive(ahead, QueuedRequest(f"a{number}", 1, order=number))
        shares.arrive(present, QueuedRequest(f"p{number}", 1, order=number))

    served = {"ahead": 0, "present": 0}
    while served["present"] < 2_100:
        flow = min((ahead, present), key=lambda each: (each.queue.clock, each.index))
        shares.schedule(flow, 0, 0, 0, 0.0)
        served[flow.name] += 1

    assert served["ahead"] / served["present"] == pytest.approx(speed_up, abs=0.001)
