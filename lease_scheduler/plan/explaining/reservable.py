"""Reservable windows: when a reservation would be granted, with and without preemption."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.plan.explaining.trials import Trials
from lease_scheduler.plan.explaining.windows import Window, Windows, maximal, windows
from lease_scheduler.plan.planner import Planner

#: Maximum number of trials for one query. Each costs about as much as a request.
_TRIALS = 60
#: Within how many seconds from the start of a window a later start is tried, as leases need time to leave.
_LONGEST_NOTICE = 3_600


@dataclass(frozen=True)
class Room:
    """When the nodes of a reservation fit.

    :ivar reservable: windows with preemption, as far as it is allowed; each is for a reservation that starts when the
        window does
    :ivar free: windows without preemption
    """

    reservable: Windows
    free: Windows


def room(planner: Planner, node_set: NodeSet, start: int, end: int, duration: int, now: int) -> Room:
    """Return the windows within ``[start, end)`` of at least ``duration`` seconds.

    Windows that need preemption are tried one by one, earliest first. When the maximum number of trials is reached,
    only free windows are returned for the rest.

    :param start: not before ``now``
    """
    context = planner.context
    asked = LeaseRequest("availability", LeaseKind.RESERVATION, (node_set,), now, duration, start)
    shutdown = context.suspension.shutdown_time(asked)
    # The shutdown comes after the end of the reservation and needs the hosts as well.
    free = windows(context, node_set, start, end + shutdown, duration + shutdown)
    trials = Trials(planner, now, _TRIALS)
    emptied = trials.emptied(asked, start)
    demand = context.plan.demands_of((node_set,))[0]
    places = emptied.places(demand.amounts, demand.eligible, demand.per_host)
    known = {(window.start, window.end) for window in free.windows}
    found = []
    for first, last in maximal(places, demand.count, start, end + shutdown):
        if last - first < duration + shutdown or (first, last) in known:
            continue
        if trials.are_used_up:
            break
        most = replace(asked, nodes=(node_set.with_count(places.throughout(first, last)),))
        window = _window(trials, asked, most, first, last - shutdown)
        if window is not None:
            found.append(window)
    trimmed = tuple(replace(window, end=window.end - shutdown) for window in free.windows)
    alone = [
        each for each in trimmed if not any(other.start <= each.start and each.end <= other.end for other in found)
    ]
    every = tuple(sorted((*found, *alone), key=lambda window: (window.start, window.end)))
    return Room(Windows(every, every[0].start if every else None), Windows(trimmed, free.earliest))


def _window(trials: Trials, asked: LeaseRequest, most: LeaseRequest, first: int, last: int) -> Window | None:
    """Return a window in which a reservation would be granted, within ``[first, last)`` where it might be, or None.

    :param most: the request with as many nodes as might fit throughout
    """
    whole = trials.of(replace(most, start=first, duration=last - first))
    if whole is not None:
        return Window(first, last, most.node_count, whole.preempted)
    latest = min(last - asked.duration, first + _LONGEST_NOTICE)
    granted = trials.first_granted(lambda instant: replace(asked, start=instant), first, latest)
    if granted is None:
        return None
    start, trial = granted
    longest = trials.most(lambda duration: replace(asked, start=start, duration=duration), asked.duration, last - start)
    duration, trial = (asked.duration, trial) if longest is None else longest
    return Window(start, start + duration, asked.node_count, trial.preempted)
