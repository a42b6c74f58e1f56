"""Runs of VMs of Azure: a trace of 2017, beside those of 2013 that Pucher 2016 uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import VCPU
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.prediction.requests import DAY, Request
from lease_scheduler.papers.prediction.two_tiers import Assurance, TwoTierCloud
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.correctness import Correctness
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.formats.azure import AzureOptions, read_azure

#: The development split of the trace; other splits are not looked at.
AZURE = "azure-v1/v1.dev.txt.gz"

#: Seconds from the first line to the cut.
END = 300_000
#: Probabilities of preemption that are promised, the first being no promise.
AZURE_PROMISES = (None, 0.10, 0.05, 0.01)
#: Name of a cloud -> number of nodes, and the share of the batches that it gets.
CLOUDS: Mapping[str, tuple[int, float]] = MappingProxyType({"24 nodes": (24, 0.05), "110 nodes": (110, 0.25)})
QUANTILES = (0.5, 0.75, 0.95)
CORES = 64
#: Fictitious instances of a run.
SAMPLES = 3_000


@dataclass(frozen=True, slots=True)
class Vm:
    """A VM of the trace.

    :ivar arrival: instant in seconds
    :ivar seconds: how long it lived, until the cut at most
    :ivar cores: number of its cores
    :ivar batch: names the VMs that were requested with it
    """

    arrival: float
    seconds: int
    cores: int
    batch: str


@dataclass(frozen=True)
class AzureTierCase:
    """Half of the batches are regular and half preemptible, on nodes of 64 cores.

    :ivar cloud: a key of ``CLOUDS``
    :ivar preemption: largest probability of preemption, or None for no promise
    :ivar seed: seed of the choice of batches, of their tiers, and of the lifetimes within their bins
    :ivar pools: whether levels with few samples are pooled, see ``AssuranceTable``
    """

    cloud: str
    preemption: float | None
    seed: int = 1
    pools: bool = False
    cost_s: ClassVar[float] = 5.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure {self.cloud} promise={self.preemption}{' pooled' if self.pools else ''} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        nodes, sample = CLOUDS[self.cloud]
        tiers = two_tiers(azure_vms(AzureOptions(sample=sample, seed=self.seed)), self.seed)
        assurance = Assurance(self.preemption, sample_every=END / SAMPLES, seed=self.seed, pools=self.pools)
        result = TwoTierCloud(nodes, CORES, assurance).run(*tiers, END)
        return {
            "regular_admitted": result.regular_share,
            "admitted": result.admitted_share,
            "preempted": result.preempted_share,
            "admissions": result.admitted,
            "utilisation": result.busy / (END * nodes * CORES),
        }


@dataclass(frozen=True)
class AzureLivesCase:
    """Upper bounds of the lifetimes of VMs, stated when they arrive, from the VMs that have ended by then.

    :ivar quantile: quantile of the lifetimes
    :ivar of_batches: whether only the first VM of each batch counts, since VMs of a batch are alike
    """

    quantile: float
    of_batches: bool
    cost_s: ClassVar[float] = 5.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure lives quantile={self.quantile} {'batches' if self.of_batches else 'VMs'}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        return coverage(lives(azure_vms(AzureOptions()), of_batches=self.of_batches), self.quantile)


def azure_vms(options: AzureOptions) -> list[Vm]:
    """Return a part of the trace.

    :raises InvalidValueError: ``LEASE_SCHEDULER_DATA`` does not name the folder of workload logs
    """
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {AZURE}")
    found: list[Vm] = []
    for lease in read_azure(Path(folder) / AZURE, options).leases:
        request = lease.request
        cores = request.nodes[0].resources[VCPU] // 100
        vm = Vm(request.submitted, request.duration, cores, request.extras["Azure_batch"])
        found += [vm] * request.node_count
    return found


def two_tiers(vms: Sequence[Vm], seed: int) -> tuple[list[Request], list[Request]]:
    """Return requests for single VMs, the regular and the preemptible ones. VMs of a batch are of one tier."""
    random = random_stream(seed, "tiers of batches")
    tier_of: dict[str, int] = {}
    tiers: tuple[list[Request], list[Request]] = ([], [])
    for vm in vms:
        tier = tier_of.get(vm.batch)
        if tier is None:
            tier = tier_of[vm.batch] = int(random.integers(2))
        tiers[tier].append(Request(vm.arrival, vm.seconds, vm.cores))
    return tiers


def lives(vms: Sequence[Vm], *, of_batches: bool) -> list[tuple[float, int]]:
    """Return (arrival, seconds) of each VM, or of the first VM of each batch."""
    known: set[str] = set()
    found: list[tuple[float, int]] = []
    for vm in vms:
        if of_batches and vm.batch in known:
            continue
        known.add(vm.batch)
        found.append((vm.arrival, vm.seconds))
    return found


def coverage(
    vms: Sequence[tuple[float, int]],
    quantile: float,
    *,
    begin: float = DAY,
    end: float = END,
    learns_at_once: bool = False,
    detects_changes: bool = True,
) -> dict[str, Any]:
    """Return how often lifetimes stay below the bounds that were stated at the arrivals.

    ``covered`` leaves out bounds that reach beyond the end of the trace, because it is unknown whether they held. That
    leaves out long bounds. ``held`` counts all bounds. It may be higher by ``unknown``, the share of the VMs that ran
    at the end.

    :param vms: (arrival, seconds), in the order of arrival
    :param begin: arrivals from this instant on are judged
    :param end: end of the trace
    :param learns_at_once: whether a lifetime is known when the VM arrives
    :param detects_changes: see ``Bmbp``
    :return: share of the bounds that held, their number, and the mean of bound to lifetime; shares of all bounds
    """
    bound = Bmbp(quantile, detect_changes=detects_changes)
    judged = Correctness(quantile)
    running: list[tuple[float, int, float | None]] = []
    told = held = unknown = 0
    for arrival, seconds in vms:
        while running and running[0][0] <= arrival:
            _, lived, was_quoted = heappop(running)
            bound.observe(lived, was_quoted)
        quoted = bound.bound()
        heappush(running, (arrival if learns_at_once else arrival + seconds, seconds, quoted))
        if quoted is None or arrival < begin:
            continue
        told += 1
        if seconds <= quoted:
            is_over = arrival + seconds < end
            held += is_over
            unknown += not is_over
        if arrival <= end - quoted:
            judged.judge(seconds, quoted)
    return {
        "covered": judged.success_fraction,
        "told": judged.judged,
        "tightness": judged.mean_ratio or 0.0,
        "held": held / max(1, told),
        "unknown": unknown / max(1, told),
        "all": told,
    }
