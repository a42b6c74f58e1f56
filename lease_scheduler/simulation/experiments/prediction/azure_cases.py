"""Runs of VMs of Azure: a trace of 2017, beside those of 2013 that Pucher 2016 uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import VCPU
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.correctness import Correctness
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.experiments.data_folder import data_folder
from lease_scheduler.simulation.experiments.prediction.requests import DAY, Request
from lease_scheduler.simulation.experiments.prediction.two_tiers import Assurance, TwoTierCloud
from lease_scheduler.simulation.formats.azure import AzureOptions, read_azure
from lease_scheduler.simulation.workload import WorkloadLease

#: The development split of the trace; other splits are not looked at.
AZURE = "azure-v1/v1.dev.txt.gz"

#: Seconds from the first line to the cut.
END = 300_000
#: Probabilities of preemption that are promised, the first being no promise.
AZURE_PROMISES = (None, 0.10, 0.05, 0.01)
#: Name of a cloud -> number of nodes, and the share of the batches that it gets.
CLOUDS: Mapping[str, tuple[int, float]] = MappingProxyType({"24 nodes": (24, 0.05), "110 nodes": (110, 0.25)})
QUANTILES = (0.5, 0.75, 0.95)
_CORES = 64
_SAMPLES = 3_000


@dataclass(frozen=True)
class AzureTierCase:
    """Half of the batches are regular and half preemptible, on nodes of 64 cores.

    :ivar cloud: a key of ``CLOUDS``
    :ivar preemption: largest probability of preemption, or None for no promise
    :ivar seed: of the choice of batches, of their tiers, and of the lives within their bins
    """

    cloud: str
    preemption: float | None
    seed: int = 1

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure {self.cloud} promise={self.preemption} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        nodes, sample = CLOUDS[self.cloud]
        tiers = two_tiers(azure_leases(AzureOptions(sample=sample, seed=self.seed)), self.seed)
        assurance = Assurance(self.preemption, sample_every=END / _SAMPLES, seed=self.seed)
        result = TwoTierCloud(nodes, _CORES, assurance).run(*tiers, END)
        return {
            "regular_admitted": result.regular_share,
            "admitted": result.admitted_share,
            "preempted": result.preempted_share,
            "admissions": result.admitted,
            "utilisation": result.busy / (END * nodes * _CORES),
        }


@dataclass(frozen=True)
class AzureLivesCase:
    """Upper bounds of the lives of VMs, told when they arrive, from the VMs that have ended by then.

    :ivar quantile: of the lives
    :ivar of_batches: whether only the first VM of each batch counts, as those of a batch are alike
    """

    quantile: float
    of_batches: bool

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure lives quantile={self.quantile} {'batches' if self.of_batches else 'VMs'}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        return coverage(lives(azure_leases(AzureOptions()), of_batches=self.of_batches), self.quantile)


def azure_leases(options: AzureOptions) -> tuple[WorkloadLease, ...]:
    """Return a part of the trace.

    :raises InvalidValueError: ``LEASE_SCHEDULER_DATA`` does not name the folder of workload logs
    """
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {AZURE}")
    return read_azure(Path(folder) / AZURE, options).leases


def two_tiers(leases: tuple[WorkloadLease, ...], seed: int) -> tuple[list[Request], list[Request]]:
    """Return requests for single VMs, the regular and the preemptible ones. VMs of a batch are of one tier."""
    random = random_stream(seed, "tiers of batches")
    tier_of: dict[str, int] = {}
    tiers: tuple[list[Request], list[Request]] = ([], [])
    for lease in leases:
        request = lease.request
        tier = tier_of.setdefault(request.extras["Azure_batch"], int(random.integers(2)))
        vm = Request(request.submitted, request.duration, request.nodes[0].resources[VCPU] // 100)
        tiers[tier].extend([vm] * request.node_count)
    return tiers


def lives(leases: tuple[WorkloadLease, ...], *, of_batches: bool) -> list[tuple[int, int]]:
    """Return (arrival, seconds) of each VM, or of the first VM of each batch."""
    known: set[str] = set()
    found: list[tuple[int, int]] = []
    for lease in leases:
        request = lease.request
        if not of_batches:
            found += [(request.submitted, request.duration)] * request.node_count
        elif request.extras["Azure_batch"] not in known:
            known.add(request.extras["Azure_batch"])
            found.append((request.submitted, request.duration))
    return found


def coverage(vms: list[tuple[int, int]], quantile: float) -> dict[str, Any]:
    """Return how often lives stay below the bounds that were told at the arrivals after the first day.

    A bound that reaches beyond the end of the trace is left out, because nobody knows whether it held.

    :param vms: (arrival, seconds), in the order of arrival
    :return: share of the bounds that held, their number, and the mean of bound to life
    """
    bound = Bmbp(quantile)
    judged = Correctness(quantile)
    running: list[tuple[int, int, float | None]] = []

    def end_until(now: int) -> None:
        while running and running[0][0] <= now:
            _, seconds, quoted = heappop(running)
            bound.observe(seconds, quoted)

    for arrival, seconds in vms:
        end_until(arrival)
        quoted = bound.bound()
        heappush(running, (arrival + seconds, seconds, quoted))
        if quoted is not None and DAY <= arrival <= END - quoted:
            judged.judge(seconds, quoted)
    return {
        "covered": judged.success_fraction,
        "told": judged.judged,
        "tightness": judged.mean_ratio or 0.0,
    }
