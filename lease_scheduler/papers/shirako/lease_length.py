"""Two guests whose leases have a fixed length, and how well these follow their loads (Grit 2007, section 4.7.2).

Shirako E1 and E2: figures 4.8 and 4.9. Two providers have 70 hosts each. Every five minutes, both guests ask for as
many whole hosts as their load needs beyond what they hold, for a full term. The queueing policy decides which guest is
served first. Each gets free hosts, up to the number that it asked for, and keeps them until the end of the term.
"""

from __future__ import annotations

import csv
import gzip
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.shirako.month import STEPS, WINDOW, means
from lease_scheduler.plan.interfaces import QueueRound
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.queueing.priority import Priority
from lease_scheduler.simulation.generators.daily_load import (
    STEPS_PER_HOUR,
    CampaignLoad,
    DailyLoad,
    FloatArray,
    held_level,
)
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.tracking import TrackingError

#: In the order of their priority.
GUESTS = COMMERCE, BATCH = "e-commerce", "batch"

#: Both providers together.
HOSTS = 2 * 70
#: Hours of a term in figure 4.9.
SHORT, LONG = 12, 72

#: Factor of the load of the cluster in the dissertation.
_BATCH_FACTOR = 0.7
#: In the folder of workload logs.
WORLD_CUP = "web/worldcup98-requests-per-minute.csv.gz"
_WORLD_CUP_FROM = datetime(1998, 6, 10)
_HOST = Resources({VCPU: 1})
_WEIGHTS = MappingProxyType({COMMERCE: 2.0, BATCH: 1.0})
#: Values of a line of figure 4.9: means of six hours.
INTERVAL_HOURS = 6

GENERATED, BACKLOG, RECORDED = "generated", "long backlog", "recorded"
#: Loads -> law of the cluster's load; those of ``RECORDED`` are logs. With ``BACKLOG`` campaigns are high and last for
#: weeks, so batch always lacks hosts, and long leases are to its advantage with most seeds.
_BATCH_LAWS: Mapping[str, CampaignLoad] = {
    GENERATED: CampaignLoad(18, 150, 48, HOSTS),
    BACKLOG: CampaignLoad(100, 1000, 24, 110),
}
_COMMERCE_LAW = DailyLoad(75, 35)


@dataclass(frozen=True)
class LeaseLengthCase:
    """A month with leases of one length.

    :ivar hours: length of a lease
    :ivar loads: ``GENERATED``, ``BACKLOG`` or ``RECORDED``
    :ivar seed: seed of the loads; the recorded ones are always the same
    """

    hours: int
    loads: str = GENERATED
    seed: int = 1
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        seed = "" if self.loads == RECORDED else f" seed {self.seed}"
        return f"leases of {self.hours} h, {self.loads} loads{seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        raw = loads_of(self.loads, self.seed)
        wanted = demand_of(raw)
        result = serve(wanted, self.hours * STEPS_PER_HOUR, Priority(PolicyOptions()))
        found: dict[str, Any] = {
            "out_of_order": result.out_of_order,
            "longest_inversion_h": result.longest_inversion / STEPS_PER_HOUR,
        }
        for guest in GUESTS:
            error, of_raw = (TrackingError.of(each[guest], result.held[guest]) for each in (wanted, raw))
            found |= {
                f"rmse {guest}": error.rmse,
                f"biased {guest}": error.biased(),
                f"rmse of the raw load {guest}": of_raw.rmse,
                f"wanted {guest}": means(wanted[guest], INTERVAL_HOURS * STEPS_PER_HOUR),
                f"held {guest}": means(result.held[guest], INTERVAL_HOURS * STEPS_PER_HOUR),
            }
        return found


@dataclass(frozen=True)
class FilterCase:
    """The filter of one load of e-commerce (E1, figure 4.8).

    :ivar loads: as in ``LeaseLengthCase``
    :ivar seed: seed of the load
    """

    loads: str = GENERATED
    seed: int = 1
    cost_s: ClassVar[float] = 0.1

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"filter of {self.loads} load{'' if self.loads == RECORDED else f' seed {self.seed}'}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        load = loads_of(self.loads, self.seed)[COMMERCE]
        level = held_level(load, WINDOW)
        steps = np.abs(np.diff(level))
        return {
            "changes_share": float((steps > 0).mean()),
            "variation_ratio": float(steps.sum() / np.abs(np.diff(load)).sum()),
            "mean_difference": float(abs(level.mean() / load.mean() - 1)),
        }


@dataclass
class Served:
    """The outcome for two guests.

    :ivar held: hosts by guest and step
    :ivar out_of_order: number of steps at which batch got hosts while e-commerce lacked some
    :ivar longest_inversion: longest time in steps for which e-commerce lacked hosts that batch held
    """

    held: dict[str, FloatArray] = field(default_factory=lambda: {guest: np.zeros(STEPS) for guest in GUESTS})
    out_of_order: int = 0
    longest_inversion: int = 0


def serve(wanted: Mapping[str, FloatArray], term: int, policy: QueueingPolicy) -> Served:
    """Serve two guests for a month.

    :param wanted: hosts by guest and step
    :param term: steps of a lease
    :param policy: decides which guest is served first
    """
    policy.follow(Site.homogeneous(HOSTS, _HOST), _WEIGHTS)
    leases: dict[str, deque[tuple[int, int]]] = {guest: deque() for guest in GUESTS}
    holds = dict.fromkeys(GUESTS, 0)
    result = Served()
    inverted = 0
    for now in range(len(wanted[COMMERCE])):
        for guest, running in leases.items():
            while running and running[0][0] <= now:
                holds[guest] -= running.popleft()[1]
        lacking = {guest: max(0, ceil(wanted[guest][now]) - holds[guest]) for guest in GUESTS}
        given = dict.fromkeys(GUESTS, 0)
        for guest in _order(policy, [guest for guest in GUESTS if lacking[guest]], now):
            given[guest] = min(lacking[guest], HOSTS - sum(holds.values()))
            holds[guest] += given[guest]
            lacking[guest] -= given[guest]
            if given[guest]:
                leases[guest].append((now + term, given[guest]))
        for guest in GUESTS:
            result.held[guest][now] = holds[guest]
        result.out_of_order += bool(given[BATCH] and lacking[COMMERCE])
        inverted = inverted + 1 if lacking[COMMERCE] and holds[BATCH] else 0
        result.longest_inversion = max(result.longest_inversion, inverted)
    return result


def _order(policy: QueueingPolicy, asking: Sequence[str], now: int) -> list[str]:
    """Return the guests that ask in the order in which the policy serves them."""
    if len(asking) < 2:
        return list(asking)
    # Batch has asked first, so that the order of arrival alone would be wrong.
    queued = [_queued(guest, number, now) for number, guest in enumerate(reversed(asking), 1)]
    return [turn.lease.request.user or "" for turn in policy.turns(QueueRound(now, lambda: queued))]


@cache
def _request(guest: str) -> LeaseRequest:
    return LeaseRequest(guest, LeaseKind.BEST_EFFORT, (NodeSet(1, _HOST),), 0, 1, user=guest)


def _queued(guest: str, number: int, now: int) -> Lease:
    return Lease(_request(guest), sequence=number)


def demand_of(raw: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return what the guests ask for: the load of e-commerce is filtered (section 4.7.1)."""
    return {COMMERCE: held_level(raw[COMMERCE], WINDOW), BATCH: raw[BATCH]}


def loads_of(loads: str, seed: int) -> dict[str, FloatArray]:
    """Return the load of each guest in hosts, shape (steps,). They replace those of the dissertation, which are
    private.
    """
    if loads == RECORDED:
        return {COMMERCE: _world_cup(), BATCH: _blue_horizon()}
    return {COMMERCE: _COMMERCE_LAW.values(STEPS, seed), BATCH: _BATCH_LAWS[loads].values(STEPS, seed)}


def _world_cup() -> FloatArray:
    """Return the load of the site of the World Cup of 1998, scaled so that the peak takes all hosts."""
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {WORLD_CUP}")
    return _five_minute_means(folder / WORLD_CUP)


@cache
def _five_minute_means(path: Path) -> FloatArray:
    with gzip.open(path, "rt", newline="") as stream:
        found = {
            int((datetime.fromisoformat(row["period"]) - _WORLD_CUP_FROM).total_seconds()) // 60: float(row["count"])
            for row in csv.DictReader(stream)
        }
    by_minute = np.array([found.get(minute, 0.0) for minute in range(5 * STEPS)])
    means: FloatArray = by_minute.reshape(STEPS, 5).mean(axis=1)
    scaled: FloatArray = means * HOSTS / means.max()
    return scaled


@cache
def _blue_horizon() -> FloatArray:
    """Return the nodes that the jobs of BLUE1 would use if each began at once, times the factor of the dissertation."""
    found = np.zeros(STEPS)
    for lease in load_workload("blue1").leases:
        runs = lease.request.duration if lease.real_duration is None else lease.real_duration
        first = lease.request.submitted // (3600 // STEPS_PER_HOUR)
        last = (lease.request.submitted + runs) // (3600 // STEPS_PER_HOUR)
        found[first : last + 1] += lease.request.node_count
    limited: FloatArray = np.minimum(HOSTS, _BATCH_FACTOR * found)
    return limited
