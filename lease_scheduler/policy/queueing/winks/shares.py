"""Which flow is served next, and what that costs it (Grit 2007, chapter 5; shirako F88-F93, F98-F100)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from heapq import heapify, heappop, heappush

from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, FlowQueue, QueuedRequest
from lease_scheduler.policy.queueing.winks.window import TOLERANCE, WindowUse


class Accounting(Enum):
    """When the cost of a request that is scheduled ahead is charged to its flow."""

    SCHEDULE = "schedule"
    DISPATCH = "dispatch"


class ShareLimit(Enum):
    """Which requests may not exceed the share of their flow in a window."""

    NONE = "none"
    WIDE = "wide"


class WhenIdle(Enum):
    """What becomes of the shares that flows do not use (shirako P19d).

    With ``STRICT``, the configured weights divide each window, whether or not their flows have leases, and hosts may
    stay idle. With ``SPARE``, only flows that take part in a window have a share of it, and requests that shares refuse
    start where hosts would otherwise stay idle.
    """

    STRICT = "strict"
    SPARE = "spare"


@dataclass(frozen=True)
class WinksOptions:
    """How a site is shared.

    :ivar window: how far ahead wide requests may be scheduled, and the length of the windows in which shares are
        limited; 0 means that every request starts at once
    :ivar limit: which requests may not exceed the share of their flow in a window
    :ivar debt: whether a request that costs more than the share of one window may use that of the next ones too;
        otherwise it is never scheduled
    :ivar accounting: when requests that are scheduled ahead are charged
    :ivar when_idle: what becomes of the shares that flows do not use
    :ivar overestimate_penalty: part of the cost of its unused time that a flow pays for a lease which ends early
    """

    window: int = 0
    limit: ShareLimit = ShareLimit.WIDE
    debt: bool = False
    accounting: Accounting = Accounting.SCHEDULE
    when_idle: WhenIdle = WhenIdle.STRICT
    overestimate_penalty: float = 0.0


@dataclass
class Flow:
    """A flow: requests that share one weight.

    :ivar name: its name
    :ivar index: its rank among flows with equal clocks
    :ivar weight: its weight relative to the other flows
    :ivar queue: its queued requests and its clock
    :ivar windows: what it has used of its share of each window
    :ivar changed: when something of it changed last
    """

    name: str
    index: int
    weight: float | Fraction = 1
    queue: FlowQueue = field(default_factory=FlowQueue)
    windows: WindowUse = field(default_factory=WindowUse)
    changed: int = 0

    def set_weight(self, weight: float | Fraction) -> None:
        """Use another weight from now on."""
        if weight != self.weight:
            self.queue.set_weight(weight)
            self.weight = weight


@dataclass(frozen=True, order=True)
class Waiting:
    """A preempted request in the look-aside queue.

    :ivar start_tag: start tag that it had when it was served
    :ivar order: position in the order of arrival
    :ivar flow: name of its flow
    :ivar request: the request, with the duration that is left
    """

    start_tag: int
    order: int
    flow: str
    request: QueuedRequest = field(compare=False)


class Shares:
    """The flows of a site, and its virtual time.

    :param options: how the site is shared
    :param capacity: capacity of the site, in the unit of the width of requests; may change
    :ivar limits: whether there are windows with limited shares
    :ivar has_spare: whether requests that shares refuse start where hosts would otherwise stay idle
    :ivar flows: the flows by name
    :ivar configured: weights of flows for which one is set, by name, whether or not they have leases
    :ivar holding: names of flows with leases that hold hosts, or have held some and are not over
    :ivar virtual_time: start tag of the request that was served last; never decreases
    :ivar look_aside: preempted requests, in the order in which they are served: before all flows, and not charged again
        (section 5.6.1)
    """

    def __init__(self, options: WinksOptions, capacity: int) -> None:
        self.options = options
        self.capacity = capacity
        self.limits = options.window > 0 and options.limit is not ShareLimit.NONE
        self.has_spare = self.limits and options.when_idle is WhenIdle.SPARE
        self.flows: dict[str, Flow] = {}
        self.configured: Mapping[str, float] = {}
        self.holding: Container[str] = frozenset()
        self.virtual_time = 0
        self.look_aside: list[Waiting] = []
        self._forgotten_before = 0

    def flow(self, name: str, weight: float | Fraction = 1) -> Flow:
        """Return a flow; a new one has this weight."""
        found = self.flows.get(name)
        if found is None:
            index = 1 + max((each.index for each in self.flows.values()), default=-1)
            found = self.flows[name] = Flow(name, index, weight, FlowQueue(weight))
        return found

    def arrive(self, flow: Flow, request: QueuedRequest) -> None:
        """Add a request to the queue of its flow."""
        flow.queue.arrive(request, self.virtual_time)

    def preempt(self, flow: Flow, request: QueuedRequest, start_tag: int, remaining: int) -> None:
        """Put a request that was served into the look-aside queue.

        :param start_tag: start tag that it had then
        :param remaining: duration that is left
        """
        rest = replace(request, duration=remaining, gap=0)
        insort(self.look_aside, Waiting(start_tag, request.order, flow.name, rest))

    # -- shares of windows -------------------------------------------------------------------------------

    def window_of(self, instant: int) -> int:
        """Return the number of the window of an instant."""
        return instant // self.options.window if self.options.window else 0

    def takes_part(self, flow: Flow, window: int) -> bool:
        """Return whether a window is shared with a flow.

        It is if something of the flow is queued, holds hosts, or has been charged to this window or a later one. With
        ``WhenIdle.STRICT``, it always is with flows whose weights are configured.
        """
        return self._has_leases(flow) or self._was_charged(flow, window)

    def _has_leases(self, flow: Flow) -> bool:
        always = not self.has_spare and flow.name in self.configured
        return always or bool(flow.queue.requests) or flow.name in self.holding

    @staticmethod
    def _was_charged(flow: Flow, window: int) -> bool:
        return any(each >= window for each in flow.windows.used)

    def share_per_weight(self, now: int) -> float:
        """Return the cost that a flow of weight 1 may use of a window, shared among the flows that take part."""
        if not self.limits:
            return 0.0
        total = self._weight_of_all(self.window_of(now))
        return self._window_cost / total if total else 0.0

    def share_of(self, flow: Flow, now: int) -> float:
        """Return the cost that a flow may use of a window, also if it takes no part in the present one."""
        window = self.window_of(now)
        total = self._weight_of_all(window)
        if not self.takes_part(flow, window):
            total += float(flow.weight)
        return self._window_cost * float(flow.weight) / total

    @property
    def _window_cost(self) -> int:
        return self.options.window * self.capacity

    def _weight_of_all(self, window: int) -> float:
        total = sum(float(flow.weight) for flow in self.flows.values() if self.takes_part(flow, window))
        if not self.has_spare:
            total += sum(weight for name, weight in self.configured.items() if name not in self.flows)
        return total

    def grows_with_next_window(self, now: int) -> bool:
        """Return whether shares of the next window are larger even if nothing happens until then."""
        window = self.window_of(now)
        return any(not self._has_leases(flow) and self._was_charged(flow, window) for flow in self.flows.values())

    def owes(self, flow: Flow, cost: int, share_per_weight: float) -> bool:
        """Return whether later windows pay what a request costs beyond the share of its own."""
        return self.limits and self.options.debt and cost > share_per_weight * float(flow.weight) > 0

    def may_start(self, flow: Flow, request: QueuedRequest, start: int, share_per_weight: float) -> bool:
        """Return whether the share of its flow lets a request start at an instant (section 5.5.2).

        :param share_per_weight: see the method of that name
        """
        if not self.limits or not request.is_wide:
            return True
        share = share_per_weight * float(flow.weight)
        return flow.windows.allows(self.window_of(start), request.needed, share, debt=self.options.debt)

    def may_grow(self, flow: Flow, cost: int, start: int, share_per_weight: float) -> bool:
        """Return whether the share of a flow lets a request that accepts less have more. No debt is made for that.

        :param cost: what it would cost
        """
        share = share_per_weight * float(flow.weight)
        return not self.limits or flow.windows.allows(self.window_of(start), cost, share, debt=False)

    def is_too_costly(self, request: QueuedRequest, share: float) -> bool:
        """Return whether a request can never start because it costs more than the share of a whole window.

        :param share: cost that its flow may use of a window
        """
        return self.limits and request.is_wide and not self.options.debt and request.needed > share * (1 + TOLERANCE)

    def most_allowed(self, flow: Flow, now: int, share_per_weight: float) -> float:
        """Return the largest cost of a wide request of a flow that may start now or within the window."""
        if not self.limits:
            return float("inf")
        first, last = self.window_of(now), self.window_of(now + self.options.window)
        return flow.windows.left(first, last, share_per_weight * float(flow.weight), debt=self.options.debt)

    # -- service -----------------------------------------------------------------------------------------

    def schedule(self, flow: Flow, position: int, start: int, now: int, share_per_weight: float) -> int:
        """Take a request out of its queue because it has got a place, and charge it.

        With ``Accounting.DISPATCH`` one that starts later is not charged yet; ``dispatch`` does that.

        :return: its start tag
        """
        request, tag = flow.queue.promote(position)
        self._charge_window(flow, request.cost, start, share_per_weight)
        if start > now and self.options.accounting is Accounting.DISPATCH:
            flow.queue.charge(-request.cost)
        else:
            self.virtual_time = max(self.virtual_time, tag)
        return tag

    def dispatch(self, flow: Flow, cost: int) -> int:
        """Charge a flow for a request that starts now and was not charged when it was scheduled.

        :return: its start tag
        """
        tag = flow.queue.clock
        self.virtual_time = max(self.virtual_time, tag)
        flow.queue.charge(cost)
        return tag

    def charge_ahead(self, flow: Flow, cost: int, start: int, share_per_weight: float) -> int:
        """Charge a flow for a request that got its place without waiting in the queue, such as a reservation.

        :return: its start tag
        """
        flow.queue.catch_up(self.virtual_time)
        self._charge_window(flow, cost, start, share_per_weight)
        return self.dispatch(flow, cost)

    def _charge_window(self, flow: Flow, cost: int, start: int, share_per_weight: float) -> None:
        if self.limits:
            flow.windows.add(self.window_of(start), cost, owes=self.owes(flow, cost, share_per_weight))

    def rest(self) -> None:
        """Level all flows, because nothing is queued or runs: no flow keeps what it used less, or more, than others."""
        latest = max((flow.queue.tail for flow in self.flows.values()), default=0)
        self.virtual_time = max(self.virtual_time, latest)

    def forget_before(self, now: int) -> Iterable[Flow] | None:
        """Drop what flows used of windows that are over.

        :return: the flows that owe, or have owed, something of these; None if no other window has begun
        """
        window = self.window_of(now)
        if window == self._forgotten_before:
            return None
        self._forgotten_before = window
        if not self.limits:
            return ()
        owing = [flow for flow in self.flows.values() if flow.windows.debt or flow.windows.owing]
        shares = {flow.name: self.share_of(flow, now) for flow in owing}
        for flow in self.flows.values():
            flow.windows.forget_before(window, shares.get(flow.name, 0.0))
        return owing

    def forget_idle(self, serving: Container[str], unchanged_since: int) -> list[str]:
        """Drop the flows that have been idle for long, and return their names.

        A flow is dropped if nothing of it is queued or was charged, it has used no more than the others, and nothing of
        the windows that are left. If a request of it arrives again, it gets the tags that it would have got otherwise:
        virtual time has passed the clock of the flow, so the tags begin with that. Only its rank among flows with equal
        clocks is a new one.

        :param serving: names of flows with charged leases that are not over
        :param unchanged_since: nothing of it has changed since this instant
        """
        found = [
            flow.name
            for flow in self.flows.values()
            if flow.changed < unchanged_since
            and not flow.queue.requests
            and flow.queue.clock <= self.virtual_time
            and flow.windows.is_clear
            and flow.name not in serving
        ]
        for name in found:
            del self.flows[name]
        return found


class TrialShares(Shares):
    """Shares as they would become if requests got places, while the flows themselves do not change.

    :param shares: the shares from which they begin
    """

    def __init__(self, shares: Shares) -> None:
        super().__init__(shares.options, shares.capacity)
        self.virtual_time = shares.virtual_time
        self.flows = dict(shares.flows)
        self.configured, self.holding = shares.configured, shares.holding
        self._copied: set[str] = set()

    def has_changed(self, flow: Flow) -> bool:
        """Return whether a flow is a copy."""
        return flow.name in self._copied

    def copied(self, flow: Flow) -> Flow:
        """Return a copy of a flow, which takes its place; the flow itself if it is a copy."""
        if flow.name not in self._copied:
            self._copied.add(flow.name)
            flow = Flow(flow.name, flow.index, flow.weight, flow.queue.copy(), flow.windows.copy())
            self.flows[flow.name] = flow
        return flow


class ServiceOrder:
    """The order in which flows are asked for a request in one pass: lowest clock first.

    A flow that has nothing that can be placed is not asked again in the pass, because places only become fewer. So no
    place stays empty that the request of some flow could use, and a flow may fall behind (section 5.4.1).

    :param flows: the flows
    """

    def __init__(self, flows: Iterable[Flow]) -> None:
        self._heap = [(flow.queue.clock, flow.index, flow) for flow in flows if flow.queue.requests]
        heapify(self._heap)

    def next(self) -> Flow | None:
        """Return the flow whose turn it is, or None. It leaves the pass unless ``again`` is called."""
        return heappop(self._heap)[2] if self._heap else None

    def again(self, flow: Flow) -> None:
        """Ask a flow again, because one of its requests has got a place."""
        if flow.queue.requests:
            heappush(self._heap, (flow.queue.clock, flow.index, flow))


def normalised(tag: int) -> float:
    """Return a tag as cost per weight."""
    return tag / UNIT
