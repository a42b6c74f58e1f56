"""Runs of three clusters that admit external requests (Amini Salehi 2012, section 5.3; contention E10, E11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.papers.contention.interrupted_service import IdleTime, serve
from lease_scheduler.policy.admission.queue_model import Load, most_places, places_by_rates
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.bags import BagLaws, Bags, generate_bags

POLICIES = ("CACP", "AACP", "RACP", "PACP")

#: Number of processors -> MIPS, and what is added to the scale of local gaps and to the mean local task.
CLUSTERS: Mapping[int, tuple[float, float, float]] = {
    64: (2_000.0, 1.0, -1.0),
    128: (3_000.0, 0.0, 0.0),
    256: (2_100.0, -1.0, 1.0),
}

_SPAN = 2 * 86_400.0
#: Half of the requests may take 4 times as long as their work on average, the others twice as long.
_RATIOS = (4.0, 2.0)
_RATIO_DEVIATION = 1.0
_LEAST_RATIO = 1.05


@dataclass(frozen=True)
class AdmissionCase:
    """A workload of two days with all policies, which see the same requests.

    :ivar local_task: mean seconds of a local task on the cluster of 128 processors
    :ivar local_gap: scale of the seconds between local requests there
    :ivar external_task: mean seconds of an external task
    :ivar external_gap: scale of the seconds between external requests
    :ivar equal_speed: whether all processors are equally fast, else as in the dissertation
    :ivar seed: seed of the workload
    """

    local_task: float = 90.0
    local_gap: float = 4.0
    external_task: float = 90.0
    external_gap: float = 1.7
    equal_speed: bool = True
    seed: int = 1
    cost_s: ClassVar[float] = 0.3

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        speeds = "equal" if self.equal_speed else "mips"
        local = f"local={self.local_task:g}/{self.local_gap:g}"
        return f"admission {local} external={self.external_task:g}/{self.external_gap:g} {speeds} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        external = generate_bags(BagLaws(self.external_gap, self.external_task), _SPAN, self.seed, "external")
        urgency = random_stream(self.seed, "urgency")
        ratios = urgency.normal(urgency.choice(_RATIOS, len(external.arrival)), _RATIO_DEVIATION)
        ratios = np.maximum(_LEAST_RATIO, ratios)
        late = dict.fromkeys(POLICIES, 0)
        refused = dict.fromkeys(POLICIES, 0)
        places: dict[str, list[int | None]] = {policy: [] for policy in POLICIES}
        for turn, (processors, (mips, more_gap, more_task)) in enumerate(CLUSTERS.items()):
            speed = processors if self.equal_speed else processors * mips / 1_000
            laws = BagLaws(self.local_gap + more_gap, self.local_task + more_task)
            local = generate_bags(laws, _SPAN, self.seed, f"local {processors}")
            # The gateway gives each cluster every third request.
            mine = slice(turn, None, len(CLUSTERS))
            work = external.work[mine] / speed
            load = _load(external.arrival[mine], work, local, speed)
            idle = IdleTime(local.arrival, local.work / speed)
            arrival = idle.until(external.arrival[mine])
            for policy in POLICIES:
                most = _places(policy, load)
                places[policy].append(most)
                ends = serve(arrival, work, most)
                admitted = ~np.isnan(ends)
                response = idle.instants(ends[admitted]) - external.arrival[mine][admitted]
                late[policy] += int((response > (ratios[mine] * work)[admitted]).sum())
                refused[policy] += int((~admitted).sum())
        requests = len(external.arrival)
        found: dict[str, Any] = {"requests": requests}
        for policy in POLICIES:
            found[f"violations_{policy}"] = 100 * (late[policy] + refused[policy]) / requests
            found[f"completed_{policy}"] = 100 * (requests - refused[policy]) / requests
            found[f"places_{policy}"] = " ".join("any" if each is None else str(each) for each in places[policy])
        return found


def _load(
    arrival: np.typing.NDArray[np.float64], work: np.typing.NDArray[np.float64], local: Bags, speed: float
) -> Load:
    """Return the load of a cluster, estimated from its workload."""
    service = local.work / speed
    return Load(
        external_rate=len(arrival) / _SPAN,
        external_work=float(work.mean()),
        local_rate=len(service) / _SPAN,
        local_service_rate=float(1 / service.mean()),
        local_variation=float(service.std() / service.mean()),
    )


def _places(policy: str, load: Load) -> int | None:
    if policy == "PACP":
        return most_places(load, sum(_RATIOS) / 2 * load.external_work)
    if policy == "RACP":
        return places_by_rates(load)
    return 1 if policy == "AACP" else None


@dataclass(frozen=True)
class QueueCase:
    """Simulations of the queue with the load ``GOLDEN``, to compare the model with.

    :ivar requests: number of external requests
    :ivar places: largest number that is admitted at a time
    :ivar seed: seed of the random numbers
    """

    requests: int = 1_000_000
    places: int = 8
    seed: int = 1
    cost_s: ClassVar[float] = 3.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"queue requests={self.requests} places={self.places} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        load, count = GOLDEN, self.requests
        arrival = random_stream(self.seed, "external arrivals").exponential(1 / load.external_rate, count).cumsum()
        scale = load.variance_of_service / load.mean_service
        service = random_stream(self.seed, "external services").gamma(load.mean_service / scale, scale, count)
        found: dict[str, Any] = {}
        for places in range(1, self.places + 1):
            ends = serve(arrival, service, places)
            admitted = ~np.isnan(ends)
            found[f"response_{places}"] = float((ends[admitted] - arrival[admitted]).mean())
            found[f"blocked_{places}"] = float(1 - admitted.mean())
        # External services one after the other, each of the same work, with local requests in between.
        number = int(2 * count * load.external_work * load.local_rate)
        local = random_stream(self.seed, "local arrivals").exponential(1 / load.local_rate, number).cumsum()
        shape = 1 / load.local_variation**2
        times = random_stream(self.seed, "local services").gamma(shape, 1 / load.local_service_rate / shape, number)
        idle = IdleTime(local, times)
        ends = idle.instants(np.full(count, load.external_work).cumsum())
        services = np.diff(ends[ends < local[-1]])
        return {**found, "mean_service": float(services.mean()), "variance_of_service": float(services.var())}


#: A load for which the figures of the model are known in full (contention 9.3).
GOLDEN = Load(0.22, 2.0, 0.5, 1.0, 0.5)


def at(case: AdmissionCase, factor: str, value: float) -> AdmissionCase:
    """Return a case with another value of one of its factors, which are the fields with seconds."""
    values: dict[str, Any] = {factor: value}
    return replace(case, **values)
