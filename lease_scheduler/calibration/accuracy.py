"""Accuracy of the time model: observed divided by predicted time (haizea E4; Sotomayor 2010, figure 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from lease_scheduler.calibration.samples import Batch, MeasuredOperation
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.options import PlanningOptions

_AWAY, _BACK = 1.4, 1.7

#: Upper bounds of mean observed by predicted time: the largest ratios in the dissertation, rounded up.
BOUNDS = {
    MeasuredOperation.SUSPEND: _AWAY,
    MeasuredOperation.SHELVE: _AWAY,
    MeasuredOperation.STOP: _AWAY,
    MeasuredOperation.RESUME: _BACK,
    MeasuredOperation.UNSHELVE: _BACK,
}

_MODES = {
    MeasuredOperation.SUSPEND: PreemptionMode.SUSPEND,
    MeasuredOperation.RESUME: PreemptionMode.SUSPEND,
    MeasuredOperation.SHELVE: PreemptionMode.SHELVE,
    MeasuredOperation.UNSHELVE: PreemptionMode.SHELVE,
    MeasuredOperation.STOP: PreemptionMode.STOP,
}


@dataclass(frozen=True)
class Accuracy:
    """Accuracy for one operation on a number of servers on a number of hosts.

    :ivar predicted: predicted time in seconds
    :ivar observed: mean time from the first command to the end of the last operation, in seconds
    :ivar worst: longest such time, in seconds
    """

    operation: MeasuredOperation
    count: int
    hosts: int
    repetitions: int
    predicted: int
    observed: float
    worst: float

    @property
    def ratio(self) -> float:
        """Observed divided by predicted time; more than 1 is an under-estimate."""
        return self.observed / self.predicted if self.predicted else float("inf")

    @property
    def bound(self) -> float:
        """The largest permitted ratio."""
        return BOUNDS[self.operation]

    @property
    def is_kept(self) -> bool:
        """Whether the ratio is within the bound."""
        return self.ratio <= self.bound


def accuracies(batches: Sequence[Batch], needs: Resources, options: PlanningOptions) -> list[Accuracy]:
    """Return the accuracy of each operation, by number of servers and of hosts.

    :param needs: resources of one server
    :param options: the planner's options in force
    """
    model = SuspensionModel(options)
    complete = [each for each in batches if each.operation in BOUNDS and each.is_complete]
    order = list(BOUNDS)
    ways = sorted({(order.index(each.operation), each.count, each.hosts) for each in complete})
    found = []
    for place, count, hosts in ways:
        operation = order[place]
        alike = [each for each in complete if (each.operation, each.count, each.hosts) == (operation, count, hosts)]
        elapsed = [each.elapsed for each in alike]
        predicted = _predict(model, operation)(_lease(operation, count, needs), _assignment(count, hosts))
        found.append(Accuracy(operation, count, hosts, len(alike), predicted, fmean(elapsed), max(elapsed)))
    return found


def _predict(model: SuspensionModel, operation: MeasuredOperation) -> Callable[[LeaseRequest, Sequence[int]], int]:
    is_back = operation in (MeasuredOperation.RESUME, MeasuredOperation.UNSHELVE)
    return model.resume_time if is_back else model.suspend_time


def _lease(operation: MeasuredOperation, count: int, needs: Resources) -> LeaseRequest:
    nodes = (NodeSet(count, needs),)
    mode = _MODES[operation]
    return LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, duration=1, preemptible=True, preemption_mode=mode)


def _assignment(count: int, hosts: int) -> list[int]:
    """Return a host for each server: all on one host, or each on its own; nothing else is measured."""
    return [number % hosts for number in range(count)]
