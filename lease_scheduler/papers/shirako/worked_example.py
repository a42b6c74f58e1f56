"""Two flows that share nine hosts (Grit 2007, figures 5.2 to 5.4; shirako E5, G1).

The figures are known by their captions only. The requests here are a reconstruction that yields all their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Shares, WinksOptions, normalised
from lease_scheduler.simulation.shares.calendar import WidthCalendar

#: Figure -> window in ticks, and whether requests may overtake others of their flow.
FIGURES = {"5.2": (0, False), "5.3": (0, True), "5.4": (40, True)}

_HOSTS = 9

#: Flow -> weight, and width and duration of each request that is queued at tick 0.
_FLOWS = {"f": (0.6, ((4, 10), (6, 10), (2, 20))), "g": (0.4, ((1, 40), (2, 40), (2, 20)))}


@dataclass(frozen=True)
class WorkedExampleCase:
    """The example of a figure up to tick 11, when each flow asks once more.

    :ivar figure: a key of ``FIGURES``
    """

    figure: str
    cost_s: ClassVar[float] = 0.01

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"example of figure {self.figure}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        window, reorders = FIGURES[self.figure]
        shares, calendar = Shares(WinksOptions(window), _HOSTS), WidthCalendar(_HOSTS, 500)
        for name, (weight, requests) in _FLOWS.items():
            shares.flow(name, weight)
            for number, (width, duration) in enumerate(requests, 1):
                _arrive(shares, name, number, width, duration)
        for now in (0, 10):
            _serve(shares, calendar, now, reorders=reorders)
        found = {f"clock_{name}": normalised(flow.queue.clock) for name, flow in shares.flows.items()}
        found["virtual_time"] = normalised(shares.virtual_time)
        for name, flow in shares.flows.items():
            _arrive(shares, name, 4, 1, 1)
            found[f"next_{name}"] = normalised(flow.queue.tags()[-1][0])
        return found


def _arrive(shares: Shares, name: str, number: int, width: int, duration: int) -> None:
    request = QueuedRequest(f"{name}{number}", width * duration, duration, width, width > 1, order=number)
    shares.arrive(shares.flows[name], request)


def _serve(shares: Shares, calendar: WidthCalendar, now: int, *, reorders: bool) -> None:
    """Serve the flow with the lowest clock, one request after the other, until nothing more fits."""
    share = shares.share_per_weight(now)
    stalled: set[str] = set()
    while True:
        waiting = [flow for flow in shares.flows.values() if flow.queue.requests and flow.name not in stalled]
        if not waiting:
            return
        flow = min(waiting, key=lambda each: (each.queue.clock, each.index))
        for position, request in enumerate(flow.queue.requests[: None if reorders else 1]):
            latest = now + shares.options.window if request.is_wide else now
            start = calendar.earliest(now, latest, request.duration, request.width)
            if start is not None and shares.may_start(flow, request, start, share):
                shares.schedule(flow, position, start, now, share)
                calendar.reserve(start, request.duration, request.width)
                break
        else:
            stalled.add(flow.name)
