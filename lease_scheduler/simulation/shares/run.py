"""A run of the queueing policy alone: flows send requests, and the policy fills a calendar of widths, tick by tick.

It calls the same decisions as the engine (``policy.queueing.winks``), without leases, so a month of a site takes about
a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count, islice

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.queueing.winks.division import Division, ElasticFlow, ElasticRequest
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Flow, ServiceOrder, Shares, Waiting, WhenIdle, WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.calendar import WidthCalendar
from lease_scheduler.simulation.shares.result import Asked, FlowResult, SharesResult, Start

_NONE = float("inf")

#: Maximum number of requests of a flow that are considered when free hosts are divided; each takes at least one host.
_MOST_DIVIDED = 100


@dataclass
class _Queued:
    """Bounds of the queue of a flow, which let the run skip the flow quickly.

    :ivar shortest: lower bound of the durations of its narrow requests
    :ivar cheapest: lower bound of the costs of its wide requests
    :ivar arrived: tick of arrival of each queued request, by key
    """

    shortest: float = _NONE
    cheapest: float = _NONE
    arrived: dict[str, int] = field(default_factory=dict)

    def note(self, request: QueuedRequest) -> None:
        """Lower the bounds for a request that joins the queue."""
        if request.is_wide:
            self.cheapest = min(self.cheapest, request.cost)
        else:
            self.shortest = min(self.shortest, request.duration)


class SharesRun:
    """A run of flows on a calendar of widths.

    :param flows: the requests of each flow
    :param hosts: number of hosts
    :param ticks: ticks in which requests arrive
    :param options: how the site is shared
    :param bound: cost of queued requests of a flow up to which it takes more; others are dropped
    :param seed: seed of the requests
    :param drain: further ticks, in which nothing arrives and queued requests are still served
    :param keeps_too_costly: whether requests that cost more than the share of a window, and so never start, stay in the
        queue; otherwise they are dropped
    :raises InvalidValueError: requests accept fewer hosts than they ask for, and there is a window; or hosts that stay
        idle may be used beyond a share
    """

    def __init__(
        self,
        flows: Sequence[FlowLoad],
        hosts: int,
        ticks: int,
        options: WinksOptions,
        *,
        bound: int = 40_000,
        seed: int = 0,
        drain: int = 0,
        keeps_too_costly: bool = False,
    ) -> None:
        self._is_elastic = any(load.least < 1 for load in flows)
        if self._is_elastic and options.window:
            raise InvalidValueError("window", "must be 0 if requests accept fewer hosts than they ask for")
        if options.when_idle is not WhenIdle.STRICT:
            raise InvalidValueError("when_idle", "must be strict: only runs of the engine know which hosts stay idle")
        self._loads = flows
        self._hosts = hosts
        self._ticks = ticks
        self._end = ticks + drain
        self._seed = seed
        self._longest = max(load.durations[1] for load in flows)
        self.shares = Shares(options, hosts)
        self.shares.configured = {load.name: load.share for load in flows}
        self.calendar = WidthCalendar(hosts, self._end + options.window + self._longest + 1)
        self._all_shares = sum(load.share for load in flows)
        self._keeps_too_costly = keeps_too_costly
        self._bound = bound
        self._queued: dict[str, _Queued] = {}
        self._results: dict[str, FlowResult] = {}
        self._flows: list[tuple[Flow, _Queued]] = []
        for load in flows:
            queued = self._queued[load.name] = _Queued()
            self._flows.append((self.shares.flow(load.name, load.share), queued))
            self._results[load.name] = FlowResult(load.name, load.share)
        self._refused: dict[str, list[tuple[int, int]]] = {}
        #: Largest cost of a wide request that the share of a flow allows, by name; for the present tick.
        self._most: dict[str, float] = {}
        self._places: dict[str, int] = {}

    def execute(self) -> SharesResult:
        """Run until the end, and return what each flow got."""
        arrivals: list[list[tuple[int, int]]] = [[] for _ in range(self._end)]
        for index, load in enumerate(self._loads):
            for tick, arriving in load.arrivals(self._hosts, self._ticks):
                arrivals[tick].append((index, arriving))
        requests = [load.requests(self._seed) for load in self._loads]
        numbers = count()
        for now, due in enumerate(arrivals):
            for index, arriving in due:
                for _ in range(arriving):
                    width, duration = next(requests[index])
                    self.ask(self._loads[index].name, width, duration, now, next(numbers))
            self.serve(now)
        return SharesResult(self._hosts, self._ticks, self._end, tuple(self._results.values()))

    def result(self, name: str) -> FlowResult:
        """Return what a flow has got so far."""
        return self._results[name]

    def ask(self, name: str, width: int, duration: int, now: int, number: int) -> bool:
        """Submit a request. Return whether it was queued.

        A request is dropped if the queue of its flow is full, or if it costs more than the share of a window.
        """
        flow, queued, result = self.shares.flows[name], self._queued[name], self._results[name]
        cost = width * duration
        request = QueuedRequest(str(number), cost, duration, width, width > 1, order=number)
        window_share = self.shares.options.window * self._hosts * result.share / self._all_shares
        too_costly = not self._keeps_too_costly and self.shares.is_too_costly(request, window_share)
        if too_costly or result.queued_cost + cost > self._bound:
            result.dropped += 1
            return False
        self.shares.arrive(flow, request)
        queued.note(request)
        queued.arrived[request.key] = now
        result.queued_cost += cost
        result.asked.append(Asked(number, now, duration, width))
        return True

    def serve(self, now: int) -> None:
        """Place what can be placed at a tick: first preempted requests, then those of the flows (sections 5.5, 5.6)."""
        for waiting in self.shares.look_aside:
            self._resume(waiting, now)
        self.shares.look_aside.clear()
        if self._is_elastic:
            self._divide(now)
            return
        self.shares.forget_before(now)
        self._refused.clear()
        self._most.clear()
        free_for = self.calendar.longest(now, 1, self._longest)
        share = self.shares.share_per_weight(now)
        # Places only become fewer within a tick, so flows that cannot be served now are left out.
        order = ServiceOrder(
            flow for flow, queued in self._flows if self._may_have_one(flow, queued, now, free_for, share)
        )
        while (flow := order.next()) is not None:
            found = self._first(flow, now, free_for, share)
            if found is None:
                continue
            position, start = found
            request = flow.queue.requests[position]
            self.shares.schedule(flow, position, start, now, share)
            self._most.pop(flow.name, None)
            self._reserve(flow.name, request, start)
            if start < now + free_for:
                free_for = self.calendar.longest(now, 1, free_for)
            order.again(flow)

    def _divide(self, now: int) -> None:
        """Divide the free hosts among requests that accept fewer than they ask for (section 5.6.3).

        Nothing is scheduled ahead, so hosts that are free now stay free.
        """
        free = int(self.calendar.free[now])
        queued = [flow for flow, _ in self._flows if flow.queue.requests]
        if not free or not queued:
            return
        least = {load.name: load.least_width for load in self._loads}
        asked = [
            ElasticFlow(
                Fraction(str(flow.weight)),
                Fraction(flow.queue.clock, UNIT),
                [
                    ElasticRequest(least[flow.name](each.width), each.width, each.duration)
                    for each in islice(flow.queue.requests, _MOST_DIVIDED)
                ],
            )
            for flow in queued
        ]
        for flow, sizes in zip(queued, Division(free, asked).given, strict=True):
            passed = 0
            for size in sizes:
                if not size:
                    passed += 1
                    continue
                request = flow.queue.requests[passed]
                self._results[flow.name].queued_cost -= request.cost - size * request.duration
                smaller = replace(request, width=size, cost=size * request.duration)
                flow.queue.correct(passed, smaller)
                self.shares.schedule(flow, passed, now, now, 0.0)
                self._reserve(flow.name, smaller, now)

    def _may_have_one(self, flow: Flow, queued: _Queued, now: int, free_for: int, share: float) -> bool:
        """Return whether a queued request of a flow may fit, judged by the bounds of its queue."""
        if queued.shortest <= free_for:
            return True
        if queued.cheapest == _NONE or not (free_for or self.shares.options.window):
            return False
        return queued.cheapest <= self._most_allowed(flow, now, share)

    def _most_allowed(self, flow: Flow, now: int, share: float) -> float:
        found = self._most.get(flow.name)
        if found is None:
            found = self._most[flow.name] = self.shares.most_allowed(flow, now, share)
        return found

    def _first(self, flow: Flow, now: int, free_for: int, share: float) -> tuple[int, int] | None:
        """Return the position of the first request of a flow that can be placed, and its start, or None.

        A request that is neither narrower nor shorter than one of its flow that has been refused is refused too.

        :param free_for: ticks from now on for which at least one host is free
        """
        queued = self._queued[flow.name]
        if not self._may_have_one(flow, queued, now, free_for, share):
            return None
        most = self._most_allowed(flow, now, share)
        refused = self._refused.setdefault(flow.name, [])
        shortest = cheapest = _NONE
        for position, request in enumerate(flow.queue.requests):
            duration, width = request.duration, request.width
            if not request.is_wide:
                if duration <= free_for:
                    return position, now
                if duration < shortest:
                    shortest = duration
                continue
            if request.cost < cheapest:
                cheapest = request.cost
            if request.cost > most:
                continue
            for wide, long in refused:
                if width >= wide and duration >= long:
                    break
            else:
                start = self._allowed_start(flow, request, now, share)
                if start is not None:
                    return position, start
                refused.append((width, duration))
        queued.shortest, queued.cheapest = shortest, cheapest
        return None

    def _allowed_start(self, flow: Flow, request: QueuedRequest, now: int, share: float) -> int | None:
        """Return the earliest start of a wide request within the window, if the share of its flow allows it."""
        window = self.shares.window_of(now)
        known = self._places.get(request.key)
        if known is not None and known >= now and self.shares.window_of(known) == window:
            # It was refused in this window because of its share. If that place is still free, it is refused again.
            free = self.calendar.free[known : known + request.duration]
            if free.min() >= request.width and not self.shares.may_start(flow, request, known, share):
                return None
        latest = now + self.shares.options.window
        start = self.calendar.earliest(now, latest, request.duration, request.width)
        if start is None or self.shares.may_start(flow, request, start, share):
            return start
        self._places[request.key] = start
        return None

    def _reserve(self, name: str, request: QueuedRequest, start: int) -> None:
        self.calendar.reserve(start, request.duration, request.width)
        result = self._results[name]
        result.queued_cost -= request.cost
        self._places.pop(request.key, None)
        arrived = self._queued[name].arrived.pop(request.key)
        result.starts.append(Start(arrived, start, request.duration, request.width))

    def _resume(self, waiting: Waiting, now: int) -> None:
        """Give a preempted request the earliest place for what is left of it."""
        request = waiting.request
        latest = len(self.calendar.free) - request.duration
        start = self.calendar.earliest(now, latest, request.duration, request.width)
        if start is not None:
            self.calendar.reserve(start, request.duration, request.width)
            self._results[waiting.flow].starts.append(Start(now, start, request.duration, request.width))

    # -- what deviates from the plan ---------------------------------------------------------------------

    def end_early(self, name: str, index: int, now: int) -> None:
        """End a request that runs, and credit its flow with what it did not use (section 5.6.2).

        :param index: its place in the ``starts`` of the result of its flow
        """
        started = self._cut(name, index, now)
        flow, cost = self.shares.flows[name], started.width * (started.end - now)
        flow.queue.credit(cost)
        owes = self.shares.owes(flow, started.width * started.duration, self.shares.share_per_weight(now))
        flow.windows.refund(self.shares.window_of(started.start), cost, owes=owes)

    def preempt(self, name: str, index: int, now: int) -> None:
        """Preempt a request that runs; it is resumed before any flow is served (section 5.6.1)."""
        started = self._cut(name, index, now)
        flow = self.shares.flows[name]
        left = started.end - now
        request = QueuedRequest("", started.width * left, left, started.width, started.width > 1, order=index)
        self.shares.preempt(flow, request, flow.queue.clock, left)

    def _cut(self, name: str, index: int, now: int) -> Start:
        result = self._results[name]
        started = result.starts[index]
        self.calendar.release(now, started.end, started.width)
        result.starts[index] = replace(started, duration=now - started.start)
        return started
