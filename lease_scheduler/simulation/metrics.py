"""Metrics of a run: waits, slowdowns, completion, utilisation and counts (haizea F82-F84).

They are pure functions of a ``RunResult`` or of its leases. Returned instants are relative to the run's zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.delays import bounded_slowdown, waiting_time
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import VCPU
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.simulation.result import Phase, RunResult
from lease_scheduler.simulation.step_function import StepFunction

#: Share of the first measurements, and of the time until the last submission, to leave out while the site fills up.
RAMP_UP = 0.05

_HOUR = 3_600
_UNMEASURED = math.nan


@dataclass(frozen=True)
class LeaseCounts:
    """Numbers of leases by outcome.

    ``requested`` is the sum of rejected, done, cancelled, failed and unfinished.

    :ivar requested: all leases
    :ivar accepted: leases that were not rejected
    :ivar rejected: leases rejected by the provider or by the user
    :ivar rejected_by_user: rejected leases whose quote the user declined
    :ivar done: leases delivered in full
    :ivar cancelled: leases ended early by a request
    :ivar failed: leases that the engine gave up
    :ivar unfinished: leases still live when the run was cut
    """

    requested: int
    accepted: int
    rejected: int
    rejected_by_user: int
    done: int
    cancelled: int
    failed: int
    unfinished: int


@dataclass(frozen=True)
class Measurements:
    """The leases that count in means and correlations, in order of submission, as columns of the same length.

    :ivar requested_duration: requested duration in s
    :ivar nodes: number of nodes
    :ivar cpu_hours: nodes times requested duration in h; a node counts as one CPU (Sotomayor 2010, section 5.4.1)
    :ivar waiting: waiting time in s
    :ivar slowdown: bounded slowdown
    """

    requested_duration: NDArray[np.float64]
    nodes: NDArray[np.float64]
    cpu_hours: NDArray[np.float64]
    waiting: NDArray[np.float64]
    slowdown: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of measured leases."""
        return len(self.waiting)


@dataclass(frozen=True)
class Revenue:
    """Earned and missed money, not normalised (Sotomayor 2010, section 8.3.1).

    If every request was done or rejected, the first four parts add up to the worth of all requests to their users.

    :ivar earned: prices of the leases that are done
    :ivar undercharged: what their users would have paid beyond these prices
    :ivar rejected: worth of the leases that the provider rejected
    :ivar rejected_by_user: worth of the leases whose price was too high for their users
    :ivar penalties: penalties for breaches, not included in the other parts (haizea F95)
    """

    earned: float
    undercharged: float
    rejected: float
    rejected_by_user: float
    penalties: float = 0.0

    @property
    def net(self) -> float:
        """Earned money minus penalties."""
        return self.earned - self.penalties

    @property
    def missed(self) -> float:
        """The sum of all parts that were not earned."""
        return self.undercharged + self.rejected + self.rejected_by_user


def waiting_times(leases: Sequence[Lease]) -> NDArray[np.float64]:
    """Return the seconds that each lease waited for its first run; NaN for reservations and if it never started.

    The wait counts from the submission (Sotomayor 2010, section 5.4.3). That of a deadline lease counts from its
    requested start, before which it cannot run.
    """
    return _floats(_measured(waiting_time(lease)) for lease in leases)


def bounded_slowdowns(leases: Sequence[Lease], dedicated: Mapping[str, int] | None = None) -> NDArray[np.float64]:
    """Return the bounded slowdown of each lease; NaN for reservations and for leases that are not done.

    * Best-effort and immediate leases: (end - submission) / max(10 s, t). In the publication (Sotomayor 2010, section
      5.4.3), t is the run time on a dedicated physical machine. The program that made its figures used the accumulated
      run time in the VMs, overheads included.
    * Deadline leases: (end - requested start) / max(10 s, requested duration).

    :param dedicated: t by lease id, in s; for other leases, t is the accumulated run time, as in the program of 2010
    """
    known = dedicated or {}
    return _floats(_measured(bounded_slowdown(lease, known.get(lease.lease_id, lease.accumulated))) for lease in leases)


def measurements(
    leases: Sequence[Lease],
    *,
    kind: LeaseKind = LeaseKind.BEST_EFFORT,
    discard: float = RAMP_UP,
    dedicated: Mapping[str, int] | None = None,
) -> Measurements:
    """Return measurements of the leases of a kind that are done, without the first (Sotomayor 2010, section 5.4.3).

    :param leases: leases in order of submission
    :param discard: share of the first leases to leave out while the site fills up, at least 0 and less than 1
    :param dedicated: as for ``bounded_slowdowns``
    :raises InvalidValueError: the share is out of bounds
    """
    if not 0 <= discard < 1:
        raise InvalidValueError("discard", f"must be at least 0 and less than 1, not {discard}")
    done = [lease for lease in leases if lease.kind is kind and lease.state is LeaseState.DONE]
    counted = done[math.floor(discard * len(done)) :]
    durations = _floats(lease.request.duration for lease in counted)
    nodes = _floats(lease.request.node_count for lease in counted)
    return Measurements(
        requested_duration=durations,
        nodes=nodes,
        cpu_hours=nodes * durations / _HOUR,
        waiting=waiting_times(counted),
        slowdown=bounded_slowdowns(counted, dedicated),
    )


def mean(values: NDArray[np.float64]) -> float | None:
    """Return the arithmetic mean, or None if there are no values."""
    return float(values.mean()) if len(values) else None


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return Spearman's rank correlation, or None if there are fewer than two pairs or one side is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    # Imported here, because only experiments need it and the import takes longer than a small run.
    from scipy import stats  # type: ignore[import-untyped]

    return float(stats.spearmanr(first, second).statistic)


def all_best_effort(result: RunResult) -> int | None:
    """Return the seconds from the run's zero until the last best-effort lease was done, or None.

    The result is None if no best-effort lease was done, or if one is unfinished because the run was cut (Sotomayor
    2010, section 5.4.3).
    """
    best_effort = [lease for lease in result.leases if lease.kind is LeaseKind.BEST_EFFORT]
    ends = [lease.ended for lease in best_effort if lease.state is LeaseState.DONE and lease.ended is not None]
    if not ends or not all(lease.is_final for lease in best_effort):
        return None
    return max(ends) - result.start


def count_leases(leases: Iterable[Lease]) -> LeaseCounts:
    """Return the numbers of leases by outcome."""
    states = Counter(lease.state for lease in leases)
    requested = states.total()
    by_user = states[LeaseState.REJECTED_BY_USER]
    rejected = states[LeaseState.REJECTED] + by_user
    return LeaseCounts(
        requested=requested,
        accepted=requested - rejected,
        rejected=rejected,
        rejected_by_user=by_user,
        done=states[LeaseState.DONE],
        cancelled=states[LeaseState.CANCELLED],
        failed=states[LeaseState.FAILED],
        unfinished=sum(count for state, count in states.items() if state not in FINAL_STATES),
    )


def count_by_kind(leases: Sequence[Lease]) -> dict[LeaseKind, LeaseCounts]:
    """Return the numbers of leases by kind and outcome, for kinds that occur, in the order of ``LeaseKind``."""
    present = {lease.kind for lease in leases}
    return {
        kind: count_leases(lease for lease in leases if lease.kind is kind) for kind in LeaseKind if kind in present
    }


def utilisation(result: RunResult, kind: LeaseKind | None = None) -> StepFunction:
    """Return the share of the site's VCPUs on which nodes run, from the run's zero to its end (haizea F84).

    Time spent on suspending, resuming and shutting down counts as idle (Sotomayor 2010, section 5.5.3).

    :param kind: kind of the leases to count; None for all kinds
    """
    capacity = result.site.total(VCPU)
    if not capacity:
        return StepFunction(np.zeros(1, dtype=np.int64), np.zeros(1), result.end - result.start)
    demand = {
        lease.lease_id: lease.request.total(VCPU) for lease in result.leases if kind is None or lease.kind is kind
    }
    runs = [held for held in result.occupations if held.phase is Phase.RUN and held.lease_id in demand]
    vcpus = _integers(demand[held.lease_id] for held in runs)
    starts = _integers(held.start for held in runs)
    ends = _integers(held.end for held in runs)
    return _changes(result, (starts, vcpus), (ends, -vcpus)).scaled(capacity)


def average_utilisation(result: RunResult, ramp_up: float = RAMP_UP) -> float:
    """Return the time-weighted average utilisation from the end of the ramp-up to the last submission (haizea F84).

    If nothing was submitted after the run's zero, it is the average of the whole run; for a run of no length, 0.

    :param ramp_up: share of the time until the last submission to leave out, at least 0 and less than 1
    :raises InvalidValueError: the share is out of bounds
    """
    if not 0 <= ramp_up < 1:
        raise InvalidValueError("ramp_up", f"must be at least 0 and less than 1, not {ramp_up}")
    length = result.end - result.start
    until = min(result.last_submission - result.start, length)
    if until > 0:
        return utilisation(result).average(ramp_up * until, until)
    return utilisation(result).average(0, length) if length else 0.0


def queue_length(result: RunResult) -> StepFunction:
    """Return the number of best-effort leases that wait or are suspended, from the run's zero to its end."""
    queued = [lease for lease in result.leases if lease.kind is LeaseKind.BEST_EFFORT]
    number = {lease.lease_id: position for position, lease in enumerate(queued)}
    held = [occupation for occupation in result.occupations if occupation.lease_id in number]
    starts = _integers(occupation.start for occupation in held)
    ends = _integers(occupation.end for occupation in held)
    arrivals = _integers(lease.request.submitted for lease in queued)
    departures = _integers(result.end if lease.ended is None else lease.ended for lease in queued)
    # A lease may be done before its nodes are shut down.
    np.maximum.at(departures, _integers(number[occupation.lease_id] for occupation in held), ends)
    ones, holds = np.ones_like(arrivals), np.ones_like(starts)
    return _changes(result, (arrivals, ones), (departures, -ones), (starts, -holds), (ends, holds))


def revenue(leases: Sequence[Lease]) -> Revenue | None:
    """Return earned and missed money (haizea F82), or None if no lease has a price or a user's rate.

    A lease is worth its user's rate (the extra ``simul_userrate``, per node and hour) times nodes and requested
    duration; without a rate it is worth its price, and without a price, nothing.
    """
    if not any(lease.grant.price is not None or "simul_userrate" in lease.request.extras for lease in leases):
        return None
    worth: dict[LeaseState, float] = dict.fromkeys(LeaseState, 0.0)
    earned = 0.0
    for lease in leases:
        price = max(lease.grant.price or 0.0, 0.0)
        value = worth_to_user(lease.request)
        worth[lease.state] += price if value is None else value
        if lease.state is LeaseState.DONE:
            earned += price
    return Revenue(
        earned=earned,
        undercharged=worth[LeaseState.DONE] - earned,
        rejected=worth[LeaseState.REJECTED],
        rejected_by_user=worth[LeaseState.REJECTED_BY_USER],
        penalties=sum(lease.penalties for lease in leases),
    )


def users_rate(request: LeaseRequest) -> float | None:
    """Return the most that the user of a lease would pay per node and hour (haizea F77), or None if unknown."""
    try:
        rate = float(request.extras["simul_userrate"])
    except (KeyError, ValueError):
        return None
    return rate if math.isfinite(rate) else None


def worth_to_user(request: LeaseRequest) -> float | None:
    """Return the most that the user of a lease would pay for it, or None if unknown."""
    rate = users_rate(request)
    return None if rate is None else rate * request.node_hours


def _measured(value: float | None) -> float:
    return _UNMEASURED if value is None else value


def _changes(result: RunResult, *parts: tuple[NDArray[np.int64], NDArray[np.int64]]) -> StepFunction:
    """Return the sum of changes at instants of the run, as a function over the length of the run."""
    instants = np.concatenate([instants for instants, _ in parts]) - result.start
    changes = np.concatenate([changes for _, changes in parts])
    return StepFunction.from_changes(instants, changes, 0, result.end - result.start)


def _floats(values: Iterable[float]) -> NDArray[np.float64]:
    return np.fromiter(values, dtype=np.float64)


def _integers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)
