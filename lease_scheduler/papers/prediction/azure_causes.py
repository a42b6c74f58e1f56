"""Counter-experiments to the runs of VMs of Azure: each removes one reason why a bound or a promise may fail.

Reordered requests have other neighbours in time, and are otherwise the same: the same VMs, batches and tiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar

from lease_scheduler.papers.prediction.azure_cases import (
    CLOUDS,
    CORES,
    END,
    SAMPLES,
    Vm,
    azure_vms,
    coverage,
    lives,
    two_tiers,
)
from lease_scheduler.papers.prediction.requests import DAY
from lease_scheduler.papers.prediction.two_tiers import Assurance, TwoTierCloud
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.formats.azure import AzureOptions

#: The promise that is not kept, and the bound that does not hold.
PROMISE, QUANTILE = 0.01, 0.95
CLOUD = "24 nodes"


class Order(Enum):
    """The order in which VMs arrive.

    * ``RECORDED``: as recorded.
    * ``AGAIN``: as recorded, twice. The second time is judged, so that the past is a perfect guide.
    * ``BATCHES``: each batch at a random instant, twice, so that the load neither grows nor follows the hours of the
      day.
    * ``VMS``: each VM at a random instant, so that nothing depends on anything.
    """

    RECORDED = "as recorded"
    AGAIN = "the same days again"
    BATCHES = "batches at random instants"
    VMS = "VMs at random instants"


class Levels(Enum):
    """How a table of lifetimes is made, see ``AssuranceTable``."""

    NO_PROMISE = "no promise"
    SLOTS = "a level for each number of slots"
    POOLED = "levels pooled"
    BOUND = "95 % confidence"


#: Number of nodes of the cloud, chosen so that about as many VMs are preempted without a promise in each order. The
#: load of random orders has no peak at the end.
NODES: Mapping[Order, int] = MappingProxyType(
    {Order.RECORDED: CLOUDS[CLOUD][0], Order.AGAIN: CLOUDS[CLOUD][0], Order.BATCHES: 18, Order.VMS: 15}
)


@dataclass(frozen=True)
class AzureCauseCase:
    """A promise of one per cent on the small cloud.

    :ivar order: when VMs arrive
    :ivar levels: how lifetimes are derived from samples
    :ivar seed: seed of all that is random
    """

    order: Order
    levels: Levels
    seed: int = 1
    cost_s: ClassVar[float] = 3.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure causes, {self.order.value}, {self.levels.value}, seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        vms = azure_vms(AzureOptions(sample=CLOUDS[CLOUD][1], seed=self.seed))
        served, begin, end = reordered(vms, self.order, self.seed)
        assurance = Assurance(
            None if self.levels is Levels.NO_PROMISE else PROMISE,
            sample_every=end / SAMPLES,
            seed=self.seed,
            confidence=QUANTILE if self.levels is Levels.BOUND else None,
            pools=self.levels is Levels.POOLED,
        )
        cloud = TwoTierCloud(NODES[self.order], CORES, assurance)
        result = cloud.run(*two_tiers(served, self.seed), end, begin)
        counts = sorted(count for size in cloud.sizes() for count in cloud.counts(size).values())
        return {
            "preempted": result.preempted_share,
            "admitted": result.admitted_share,
            "admissions": result.admitted,
            "incidents": result.incidents,
            "samples_per_level": counts[len(counts) // 2] if counts else 0,
        }


@dataclass(frozen=True)
class AzureLivesCauseCase:
    """A bound of 95 % of the lifetimes.

    :ivar order: when VMs arrive
    :ivar learns_at_once: whether a lifetime is known when the VM arrives, instead of when it has ended
    :ivar detects_changes: whether old lifetimes are forgotten when the process seems to have changed
    """

    order: Order
    learns_at_once: bool = False
    detects_changes: bool = True
    cost_s: ClassVar[float] = 10.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure causes, lives {self.what}"

    @property
    def what(self) -> str:
        """What differs from the run as recorded, in words."""
        found = self.order.value
        if self.learns_at_once:
            found += ", lives known at once"
        return found if self.detects_changes else f"{found}, nothing forgotten"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        vms, begin, end = reordered(azure_vms(AzureOptions()), self.order, 1)
        return coverage(
            lives(vms, of_batches=False),
            QUANTILE,
            begin=begin,
            # In the other orders VMs that ran at the cut have ended there.
            end=end if self.order is Order.RECORDED else 2 * end,
            learns_at_once=self.learns_at_once,
            detects_changes=self.detects_changes,
        )


#: Each case differs in one thing from the first, or from one before it.
LIVES_CAUSES = (
    AzureLivesCauseCase(Order.RECORDED),
    AzureLivesCauseCase(Order.RECORDED, learns_at_once=True),
    AzureLivesCauseCase(Order.RECORDED, detects_changes=False),
    AzureLivesCauseCase(Order.AGAIN),
    AzureLivesCauseCase(Order.AGAIN, learns_at_once=True),
    AzureLivesCauseCase(Order.AGAIN, detects_changes=False),
    AzureLivesCauseCase(Order.BATCHES),
    AzureLivesCauseCase(Order.VMS),
)


def tier_causes(seeds: Sequence[int]) -> list[AzureCauseCase]:
    """Return the runs of the promise. The bound of confidence is only run as recorded."""
    levels = (Levels.NO_PROMISE, Levels.SLOTS, Levels.POOLED)
    kinds = [(order, each) for order in Order for each in levels] + [(Order.RECORDED, Levels.BOUND)]
    return [AzureCauseCase(order, each, seed) for order, each in kinds for seed in seeds]


def reordered(vms: Sequence[Vm], order: Order, seed: int) -> tuple[list[Vm], float, float]:
    """Return VMs in another order, and the instants from which on and until which they are judged.

    In orders other than the recorded one they arrive twice, and are judged the second time.
    """
    if order is Order.RECORDED:
        return list(vms), DAY, END
    random = random_stream(seed, order.value)
    found: list[Vm] = []
    for begin in (0, END):
        if order is Order.AGAIN:
            found += [replace(vm, arrival=vm.arrival + begin) for vm in vms]
            continue
        instants: dict[object, float] = {}
        for number, vm in enumerate(vms):
            unit = vm.batch if order is Order.BATCHES else number
            instant = instants.get(unit)
            if instant is None:
                instant = instants[unit] = begin + float(random.random()) * END
            found.append(replace(vm, arrival=instant))
    return sorted(found, key=lambda vm: vm.arrival), END, 2 * END
