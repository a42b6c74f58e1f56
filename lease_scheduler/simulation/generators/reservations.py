"""Generated sets of reservations (haizea F87; Sotomayor 2010, section 5.4.1 and appendix A.3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.distributions import (
    DiscreteUniform,
    Distribution,
    Uniform,
)
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_HOUR = 3600

#: Name of a size -> smallest and largest number of nodes of a reservation (Sotomayor 2010, section 5.4.1).
SIZES: Mapping[str, tuple[int, int]] = MappingProxyType({"small": (1, 24), "medium": (25, 48), "large": (49, 72)})

#: Shares of the site in per cent, and mean durations in hours, of the 72 sets.
UTILISATIONS = (5, 10, 15, 20, 25, 30)
HOURS = (1, 2, 3, 4)

_SINGLED_OUT: Mapping[str, tuple[int, int, str]] = MappingProxyType(
    {"T10": (10, 4, "medium"), "T20": (20, 3, "medium"), "T30": (30, 2, "medium")}
)


@dataclass(frozen=True)
class ReservationRules:
    """Rules by which reservations are generated.

    The set ends with the first reservation at which the reserved capacity reaches the share ``utilisation`` of the
    site's capacity over ``span``, or after ``count`` reservations. Each reservation starts
    ``span // number of reservations + interval`` seconds after the previous one (without a span, ``interval`` seconds),
    never before 0.

    :ivar name: name of the workload
    :ivar site: the hosts
    :ivar resources: what each node of a reservation needs
    :ivar nodes: law of the number of nodes, at least 1, rounded down
    :ivar duration: law of the duration in s, above 0, rounded up
    :ivar interval: law of what is added to the mean interval, in s, rounded down
    :ivar span: approximate start of the last reservation, in s; required with ``utilisation``
    :ivar utilisation: share of the site to reserve, above 0; None if ``count`` is given
    :ivar count: number of reservations, at least 1; None if ``utilisation`` is given
    :ivar notice: seconds from a request to the start of its reservation; a request before 0 arrives at 0
    :ivar attributes: attributes of the workload
    :raises InvalidValueError: a field is wrong; the error names it
    """

    name: str
    site: Site
    resources: Resources
    nodes: Distribution
    duration: Distribution
    interval: Distribution
    span: int | None = None
    utilisation: float | None = None
    count: int | None = None
    notice: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.utilisation is None) == (self.count is None):
            raise InvalidValueError("count", "give either a utilisation or a count of reservations")
        if self.count is not None and self.count < 1:
            raise InvalidValueError("count", f"must be at least 1, not {self.count}")
        if self.utilisation is not None:
            if not (math.isfinite(self.utilisation) and self.utilisation > 0):
                raise InvalidValueError("utilisation", f"must be above 0, not {self.utilisation:g}")
            if self.span is None:
                raise InvalidValueError("span", "is needed with a utilisation")
            if not self.site.total(VCPU) or not self.resources.get(VCPU, 0):
                raise InvalidValueError("utilisation", "needs VCPU in the site and in the resources of a node")
        if self.span is not None and self.span < 1:
            raise InvalidValueError("span", f"must be at least 1 s, not {self.span}")
        if self.notice < 0:
            raise InvalidValueError("notice", f"must not be negative, not {self.notice}")
        if not self.nodes.minimum >= 1:
            raise InvalidValueError("nodes", f"the law must not go below 1, but its minimum is {self.nodes.minimum:g}")
        if not self.duration.minimum > 0:
            raise InvalidValueError(
                "duration", f"the law must stay above 0 s, but its minimum is {self.duration.minimum:g}"
            )


def generate_by_rules(rules: ReservationRules, seed: int, seeds: Mapping[str, int] | None = None) -> Workload:
    """Generate reservations.

    :param seed: at least 0; the same seed gives the same workload
    :param seeds: different seeds for the laws ``nodes``, ``duration`` or ``interval``
    :return: reservations in order of submission, numbered from 1; each runs for its whole duration
    :raises InvalidValueError: a seed is negative
    """
    streams = {
        purpose: random_stream((seeds or {}).get(purpose, seed), purpose)
        for purpose in ("nodes", "duration", "interval")
    }
    sizes: list[tuple[int, int]] = []
    reserved = 0
    target = 0.0
    if rules.utilisation is not None and rules.span is not None:
        target = rules.utilisation * rules.site.total(VCPU) * rules.span
    while len(sizes) < rules.count if rules.count is not None else reserved < target:
        nodes = math.floor(rules.nodes.draw(streams["nodes"], 1)[0])
        duration = math.ceil(rules.duration.draw(streams["duration"], 1)[0])
        sizes.append((nodes, duration))
        reserved += nodes * duration * rules.resources.get(VCPU, 0)

    mean_interval = rules.span // len(sizes) if rules.span is not None else 0
    start = 0
    requests: list[tuple[int, int, int, int]] = []
    for (nodes, duration), interval in zip(
        sizes, rules.interval.draw(streams["interval"], len(sizes)).tolist(), strict=True
    ):
        start = max(start + mean_interval + math.floor(interval), 0)
        requests.append((max(start - rules.notice, 0), start, nodes, duration))
    # With a negative interval, a reservation can start before the one that was drawn before it.
    requests.sort(key=lambda request: request[:2])
    return Workload(
        name=rules.name,
        leases=tuple(
            WorkloadLease(
                LeaseRequest(
                    lease_id=str(number),
                    kind=LeaseKind.RESERVATION,
                    nodes=(NodeSet(nodes, rules.resources),),
                    submitted=submitted,
                    duration=duration,
                    start=start,
                )
            )
            for number, (submitted, start, nodes, duration) in enumerate(requests, start=1)
        ),
        site=rules.site,
        attributes=dict(rules.attributes),
    )


@dataclass(frozen=True)
class ReservationSet:
    """Reservations for a site of equal hosts, each of which holds exactly one node.

    :ivar utilisation: share of ``hosts * span`` to reserve, 0..1; the set ends with the first reservation that reaches
        it. With ``count`` it is only a label
    :ivar nodes_min: smallest number of nodes of a reservation
    :ivar nodes_max: largest number of nodes of a reservation
    :ivar duration: mean duration in s
    :ivar duration_spread: largest deviation from the mean duration, in s
    :ivar hosts: number of hosts of the site
    :ivar span: approximate start of the last reservation, in s
    :ivar jitter_min: lower bound of what is added to the mean interval between starts, in s
    :ivar jitter_max: upper bound of what is added to it, in s
    :ivar notice: seconds from a request to the start of its reservation; less for the earliest ones
    :ivar vcpu: VCPU of a node, in per cent of a core
    :ivar memory_mb: memory of a node
    :ivar count: number of reservations; None if the utilisation determines it
    :ivar name: name of the workload
    :raises InvalidValueError: a field is wrong; the error names it
    """

    utilisation: float
    nodes_min: int
    nodes_max: int
    duration: int
    duration_spread: int = 1800
    hosts: int = 144
    span: int = 2_592_000
    jitter_min: int = 0
    jitter_max: int = 60
    notice: int = 86_400
    vcpu: int = 100
    memory_mb: int = 1024
    count: int | None = None
    name: str = "reservations"

    def __post_init__(self) -> None:
        if self.nodes_max > self.hosts:
            raise InvalidValueError(
                "nodes_max", f"must not be more than the {self.hosts} hosts of the site, not {self.nodes_max}"
            )
        if not 0 <= self.duration_spread < self.duration:
            raise InvalidValueError(
                "duration_spread", f"must be at least 0 and less than the duration, not {self.duration_spread}"
            )
        self.rules()

    @property
    def expected_count(self) -> float:
        """Approximate number of reservations."""
        if self.count is not None:
            return self.count
        each = (self.nodes_min + self.nodes_max) / 2 * self.duration
        return self.utilisation * self.hosts * self.span / each

    def rules(self) -> ReservationRules:
        """Return the rules for the general generator that make this set."""
        node = Resources({VCPU: self.vcpu, MEMORY_MB: self.memory_mb})
        bounds = (self.nodes_min, self.nodes_max)
        size = next((name for name, limits in SIZES.items() if limits == bounds), "{}-{}".format(*bounds))
        return ReservationRules(
            name=self.name,
            site=Site.homogeneous(self.hosts, node),
            resources=node,
            nodes=DiscreteUniform(*bounds),
            duration=Uniform(self.duration - self.duration_spread, self.duration + self.duration_spread),
            interval=Uniform(self.jitter_min, self.jitter_max),
            span=self.span,
            utilisation=self.utilisation if self.count is None else None,
            count=self.count,
            notice=self.notice,
            attributes={
                "utilization": f"{100 * self.utilisation:g}",
                "numnodes": size,
                "duration": f"{self.duration / _HOUR:g}h",
            },
        )


def generate_reservations(reservations: ReservationSet, seed: int) -> Workload:
    """Generate a set of reservations, to be injected into another workload (Sotomayor 2010, section 5.4.1).

    The interval between two starts is the mean interval plus a uniform jitter. The default jitter of 0..60 s reproduces
    the published results, although section 5.4.1 says one hour to either side (``jitter_min=-3600, jitter_max=3600``).

    :param seed: at least 0; the same set and seed give the same workload
    :return: reservations, not preemptible, in order of submission, numbered from 1; the attributes are ``utilization``
        (per cent), ``numnodes`` (name of the size), ``duration`` (hours) and ``seed``
    :raises InvalidValueError: the seed is negative
    """
    workload = generate_by_rules(reservations.rules(), seed)
    return Workload(workload.name, workload.leases, workload.site, {**workload.attributes, "seed": str(seed)})


def preset(utilisation: int, hours: int, size: str) -> ReservationSet:
    """Return one of the 72 sets for 144 hosts and 30 days (Sotomayor 2010, section 5.4.1).

    :param utilisation: 5, 10, ... 30 per cent
    :param hours: mean duration, 1..4
    :param size: ``small`` (1-24 nodes), ``medium`` (25-48) or ``large`` (49-72)
    :return: the set, named as in ``U20_Nmedium_D3h``
    :raises InvalidValueError: there is no such set
    """
    if utilisation not in UTILISATIONS:
        raise InvalidValueError("utilisation", f"must be one of {UTILISATIONS}, not {utilisation}")
    if hours not in HOURS:
        raise InvalidValueError("hours", f"must be one of {HOURS}, not {hours}")
    if size not in SIZES:
        raise InvalidValueError("size", f"must be one of {tuple(SIZES)}, not {size!r}")
    nodes_min, nodes_max = SIZES[size]
    return ReservationSet(
        utilisation / 100, nodes_min, nodes_max, hours * _HOUR, name=f"U{utilisation}_N{size}_D{hours}h"
    )


def presets() -> dict[str, ReservationSet]:
    """Return all sets by name: the 72 of ``preset``, and T10, T20 and T30, which are three of these."""
    sets = [preset(*key) for key in _all_keys()]
    return {**{item.name: item for item in sets}, **{name: preset(*key) for name, key in _SINGLED_OUT.items()}}


@cache
def preset_by_name(name: str) -> ReservationSet:
    """Return the set with a name; the case of letters does not matter.

    :raises InvalidValueError: there is no such set
    """
    found = {known.lower(): item for known, item in presets().items()}.get(name.lower())
    if found is None:
        raise InvalidValueError(
            "preset", f"there is none named {name!r}; use T10, T20, T30 or a name such as U20_Nmedium_D3h"
        )
    return found


def _all_keys() -> list[tuple[int, int, str]]:
    return [(share, hours, size) for share in UTILISATIONS for hours in HOURS for size in SIZES]
