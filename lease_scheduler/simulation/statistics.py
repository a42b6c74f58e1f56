"""Statistics of a workload: counts, sizes, durations, load and the waits recorded in its log.

Sotomayor 2010, section 5.4.1 and appendix A.3 give some of these figures for the workloads used there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.delays import SLOWDOWN_BOUND
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import VCPU
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Quantiles that are reported.
QUANTILES = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)

_DAY = 86_400
_UNKNOWN_USERS = (None, "-1")
_RAMP_UP = 0.05

_NODE_CLASSES = ((1, "1"), (4, "2-4"), (8, "5-8"), (16, "9-16"), (32, "17-32"), (64, "33-64"), (math.inf, "65 or more"))
_DURATION_CLASSES = (
    (60, "up to 1 min"),
    (600, "up to 10 min"),
    (3_600, "up to 1 h"),
    (21_600, "up to 6 h"),
    (43_200, "up to 12 h"),
    (86_400, "up to 24 h"),
    (math.inf, "more than 24 h"),
)


@dataclass(frozen=True)
class Spread:
    """The distribution of the values of one quantity.

    :ivar mean: arithmetic mean
    :ivar minimum: smallest value
    :ivar maximum: largest value
    :ivar quantiles: value at each of ``QUANTILES``, linearly interpolated between two values
    """

    mean: float
    minimum: float
    maximum: float
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class Share:
    """One class of a histogram.

    :ivar label: name of the class
    :ivar count: number of leases in the class
    """

    label: str
    count: int


@dataclass(frozen=True)
class Load:
    """Demand divided by capacity, in a window that begins at the workload's zero.

    For the last two figures, each lease is assumed to start at its requested start or, without one, when it is
    submitted.

    :ivar hosts: number of hosts of the site
    :ivar window: length of the window in s
    :ivar full: recorded run times of all leases, even beyond the window
    :ivar clipped: recorded run times or requested durations, whichever are shorter, within the window
    :ivar without_ramp_up: recorded run times between 5 % and the end of the window, over the capacity of the whole
        window
    """

    hosts: int
    window: int
    full: float
    clipped: float
    without_ramp_up: float


@dataclass(frozen=True)
class WorkloadStatistics:
    """Figures about a workload; times in s.

    :ivar name: name of the workload
    :ivar leases: number of requests
    :ivar kinds: number of requests by kind, for kinds that occur
    :ivar preemptible: number of preemptible requests
    :ivar users: number of different known users
    :ivar first_submission: instant of the first request
    :ivar last_submission: instant of the last request
    :ivar at_most_4_nodes: share of requests with at most four nodes
    :ivar at_most_1_hour: share of requests for at most one hour
    :ivar overruns: number of requests whose recorded run time exceeds the requested duration
    :ivar nodes: spread of the number of nodes
    :ivar requested: spread of the requested durations
    :ivar actual: spread of the real durations, which are at most the requested ones
    :ivar interarrival: spread of the times between two requests; None if there are fewer than two requests
    :ivar recorded_wait: spread of the waits in the log; None if it records none
    :ivar recorded_slowdown: spread of the bounded slowdowns in the log; None if it records no waits
    :ivar start_delay: spread of the times from submission to requested start; None if no lease has a requested start
    :ivar deadline_slack: spread of (deadline - start) / duration - 1; None if no lease has a deadline
    :ivar user_rate: spread of the users' rates per node and hour; None if no lease has one
    :ivar node_classes: histogram of the number of nodes
    :ivar duration_classes: histogram of the requested durations
    :ivar load: demand divided by capacity; None if the site is unknown or the window is empty
    """

    name: str
    leases: int
    kinds: dict[str, int]
    preemptible: int
    users: int
    first_submission: int
    last_submission: int
    at_most_4_nodes: float
    at_most_1_hour: float
    overruns: int
    nodes: Spread
    requested: Spread
    actual: Spread
    interarrival: Spread | None
    recorded_wait: Spread | None
    recorded_slowdown: Spread | None
    start_delay: Spread | None
    deadline_slack: Spread | None
    user_rate: Spread | None
    node_classes: tuple[Share, ...]
    duration_classes: tuple[Share, ...]
    load: Load | None


def describe(workload: Workload, window: int | None = None) -> WorkloadStatistics:
    """Return figures about a workload.

    :param window: length of the window for the load in s; by default the last submission rounded up to whole days,
        since logs are cut at whole days
    :raises InvalidValueError: the workload is empty, or the window is not positive
    """
    if not workload.leases:
        raise InvalidValueError("workload", f"{workload.name} has no leases; there is nothing to describe")
    if window is not None and window < 1:
        raise InvalidValueError("length", f"must be at least 1 s, not {window}")
    requests = [lease.request for lease in workload.leases]
    submitted = _numbers(request.submitted for request in requests)
    nodes = _numbers(request.node_count for request in requests)
    requested = _numbers(request.duration for request in requests)
    recorded = _numbers(map(_recorded_duration, workload.leases))
    waits = _recorded_waits(workload.leases)
    if window is None:
        window = math.ceil(workload.last_submission / _DAY) * _DAY
    return WorkloadStatistics(
        name=workload.name,
        leases=len(requests),
        kinds=dict(Counter(request.kind.value for request in requests)),
        preemptible=sum(request.preemptible for request in requests),
        users=len({request.user for request in requests if request.user not in _UNKNOWN_USERS}),
        first_submission=int(submitted.min()),
        last_submission=int(submitted.max()),
        at_most_4_nodes=float(np.mean(nodes <= 4)),
        at_most_1_hour=float(np.mean(requested <= 3_600)),
        overruns=int(np.sum(recorded > requested)),
        nodes=_spread(nodes),
        requested=_spread(requested),
        actual=_spread(np.minimum(recorded, requested)),
        interarrival=_spread(np.diff(np.sort(submitted))) if len(submitted) > 1 else None,
        recorded_wait=_spread(waits[:, 0]) if len(waits) else None,
        recorded_slowdown=_spread(_bounded_slowdowns(waits)) if len(waits) else None,
        start_delay=_spread_of(request.start - request.submitted for request in requests if request.start is not None),
        deadline_slack=_spread_of(
            (request.deadline - request.start) / request.duration - 1
            for request in requests
            if request.deadline is not None and request.start is not None
        ),
        user_rate=_spread_of(
            rate for lease in workload.leases if (rate := _extra(lease, "simul_userrate")) is not None
        ),
        node_classes=_histogram(nodes, _NODE_CLASSES),
        duration_classes=_histogram(requested, _DURATION_CLASSES),
        load=_load(workload, window, requested, recorded),
    )


def _numbers(values: Iterable[float]) -> NDArray[np.float64]:
    return np.array(list(values), dtype=np.float64)


def _extra(lease: WorkloadLease, name: str) -> float | None:
    """Return a field of the log, or None if it is missing, negative or not a number."""
    try:
        value = float(lease.request.extras[name])
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _recorded_duration(lease: WorkloadLease) -> float:
    """Return the run time in the log, even if it exceeds the requested duration; without a log, the real duration."""
    recorded = _extra(lease, "SWF_runtime")
    if recorded is not None:
        return max(recorded, 1.0)
    return float(lease.request.duration if lease.real_duration is None else lease.real_duration)


def _recorded_waits(leases: Sequence[WorkloadLease]) -> NDArray[np.float64]:
    """Return rows of (wait, run time), for leases whose log has both."""
    pairs = ((_extra(lease, "SWF_waittime"), _extra(lease, "SWF_runtime")) for lease in leases)
    return np.array([pair for pair in pairs if None not in pair], dtype=np.float64).reshape(-1, 2)


def _bounded_slowdowns(waits: NDArray[np.float64]) -> NDArray[np.float64]:
    run = np.maximum(waits[:, 1], SLOWDOWN_BOUND)
    return (waits[:, 0] + run) / run


def _spread(values: NDArray[np.float64]) -> Spread:
    return Spread(
        mean=float(values.mean()),
        minimum=float(values.min()),
        maximum=float(values.max()),
        quantiles=tuple(np.quantile(values, QUANTILES).tolist()),
    )


def _spread_of(values: Iterable[float]) -> Spread | None:
    found = _numbers(values)
    return _spread(found) if len(found) else None


def _histogram(values: NDArray[np.float64], classes: Sequence[tuple[float, str]]) -> tuple[Share, ...]:
    bounds = [bound for bound, _ in classes]
    counts = np.bincount(np.searchsorted(bounds, values, side="left"), minlength=len(bounds))
    return tuple(Share(label, int(count)) for (_, label), count in zip(classes, counts, strict=True))


def _load(
    workload: Workload,
    window: int,
    requested: NDArray[np.float64],
    recorded: NDArray[np.float64],
) -> Load | None:
    site = workload.site
    if site is None or not site.total(VCPU) or not window:
        return None
    weights = _numbers(lease.request.total(VCPU) for lease in workload.leases) / (site.total(VCPU) * window)

    def weigh(seconds: NDArray[np.float64]) -> float:
        return float(np.dot(weights, np.maximum(seconds, 0.0)))

    requests = [lease.request for lease in workload.leases]
    begin = _numbers(request.submitted if request.start is None else request.start for request in requests)
    return Load(
        hosts=len(site),
        window=window,
        full=weigh(recorded),
        clipped=weigh(np.minimum(window, begin + np.minimum(recorded, requested)) - begin),
        without_ramp_up=weigh(np.minimum(window, begin + recorded) - np.maximum(_RAMP_UP * window, begin)),
    )
