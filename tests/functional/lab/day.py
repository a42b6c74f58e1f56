"""A day of a recorded machine, scaled to a hundred leases of all kinds on twenty hosts in ten minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

from lease_scheduler.simulation.shipped import load_workload

_DAY = 86_400

#: Shortest duration in seconds; a shorter lease would be over before its servers are booted.
_SHORTEST = 30

#: The same for immediate leases with servers, in seconds. Their end is fixed and nothing is booted ahead, and one boot
#: may take more than half a minute when a machine with two cores boots many servers at once.
_SHORTEST_WITH_BOOT = 60

#: Which day of the month: one that loads its machine by half, mostly with small jobs, as fake hypervisors can bear.
_WHICH = 22
_MACHINE_NODES = 144

_SEED = 20_260_401

#: Share of each kind, in per cent. The recorded machine had best-effort jobs only.
_KINDS = {"best-effort": 50, "reservation": 20, "deadline": 15, "immediate": 15}

#: Range of the time from a request for a reservation to its start, in seconds; its servers have to be booted ahead.
_AHEAD = (30, 120)


@dataclass(frozen=True)
class Job:
    """A lease to be requested.

    :ivar at: seconds from the beginning
    :ivar nodes: number of nodes
    :ivar duration: requested duration in seconds
    :ivar real: seconds after which its project ends it; None if it runs for the whole duration
    :ivar ahead: seconds from the request to the start of a reservation, or to the earliest start of a deadline lease
    :ivar slack: of a deadline lease: time until its deadline divided by its duration
    :ivar managed: whether the service boots its servers
    """

    number: int
    kind: str
    at: float
    nodes: int
    duration: int
    real: int | None
    ahead: int
    slack: float
    managed: bool


def jobs_of_a_day(length: float, count: int, slots: int, largest: int) -> Sequence[Job]:
    """Return a number of jobs, spread over the day as they were recorded.

    :param length: seconds that the day is to take
    :param slots: nodes that the site has
    :param largest: most nodes that a job may have
    """
    speed, size = _DAY / length, slots / _MACHINE_NODES
    random = Random(_SEED)
    found = [each for each in load_workload("blue1").leases if each.request.submitted // _DAY == _WHICH]
    chosen = [found[number * len(found) // count] for number in range(count)]
    jobs = []
    for number, each in enumerate(chosen):
        kind = random.choices(list(_KINDS), list(_KINDS.values()))[0]
        ahead = random.randint(*_AHEAD) if kind == "reservation" else 5
        slack, managed = random.uniform(2, 6), random.random() < 0.5
        shortest = _SHORTEST_WITH_BOOT if kind == "immediate" and managed else _SHORTEST
        duration = min(180, max(shortest, ceil(each.request.duration / speed)))
        real = ceil((each.real_duration or each.request.duration) / speed)
        jobs.append(
            Job(
                number,
                kind,
                (each.request.submitted - _WHICH * _DAY) / speed,
                min(largest, max(1, round(each.request.node_count * size))),
                duration,
                max(8, real) if real < duration * 0.8 else None,
                ahead,
                slack,
                managed,
            )
        )
    return jobs
