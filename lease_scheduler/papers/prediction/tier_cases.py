"""The runs of chapter 4 of Pucher 2016: preemptible instances with an assured lifetime."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from lease_scheduler.papers.prediction.requests import DAY, TRACES, recorded, two_classes
from lease_scheduler.papers.prediction.two_tiers import Assurance, TwoTierCloud, TwoTierResult
from lease_scheduler.papers.replications import block_name
from lease_scheduler.prediction.assurance import AssuranceTable
from lease_scheduler.prediction.lifetimes import Threat

#: Probabilities of preemption that are promised, the first being no promise (figure 4.1).
PROMISES = (None, 0.25, 0.10, 0.05, 0.01)
TIER_SEEDS = (1, 2, 3)
#: Regular and preemptible trace (table 4.2).
PAIRS = (("DS2", "DS3"), ("DS3", "DS2"), ("DS5", "DS6"), ("DS6", "DS5"))
PAIR_NAMES = {PAIRS[0]: "A-B", PAIRS[1]: "B-A", PAIRS[2]: "C-D", PAIRS[3]: "D-C"}
#: The sizes of figures 4.8 and 4.9.
SIZES = {PAIRS[0]: (7, 6, 5, 4), PAIRS[2]: (31, 26, 21, 16)}
#: The probability that is promised for recorded clouds.
PROMISE = 0.01
_CORES = 32
_DAYS = 10
_SAMPLES = 10_000


@dataclass(frozen=True)
class PromiseCase:
    """Generated requests of both tiers on 32 cores.

    :ivar preemption: largest probability of preemption, or None for no promise
    :ivar seed: seed of the requests, and of the instants of the samples
    """

    preemption: float | None
    seed: int
    cost_s: ClassVar[float] = 0.6

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"generated promise={self.preemption} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        assurance = Assurance(self.preemption, sample_every=_DAYS * DAY / _SAMPLES, seed=self.seed)
        cloud = TwoTierCloud(1, _CORES, assurance)
        return _figures(
            cloud.run(two_classes(self.seed, True), two_classes(self.seed, False), _DAYS * DAY), _DAYS * DAY * _CORES
        )


@dataclass(frozen=True)
class AnatomyCase:
    """The samples behind the promises, after nine days.

    :ivar threat: what an instance is preempted by
    :ivar seed: seed of the requests, and of the instants of the samples
    """

    threat: Threat
    seed: int = 1
    cost_s: ClassVar[float] = 5.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"anatomy {self.threat.value} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        end = 9 * DAY
        assurance = Assurance(0.25, self.threat, sample_every=end / (10 * _SAMPLES), seed=self.seed)
        cloud = TwoTierCloud(1, _CORES, assurance)
        cloud.run(two_classes(self.seed, True), two_classes(self.seed, False), end)
        lifetimes = cloud.lifetimes(1).lifetimes(end)
        tables = {each: AssuranceTable(lifetimes, each, pools=False) for each in PROMISES[1:] if each}
        return {
            "counts": [tables[0.25].counts.get(slots, 0) for slots in range(1, _CORES + 1)],
            **{
                f"seconds_{preemption}": [table.seconds(slots) for slots in range(1, _CORES + 1)]
                for preemption, table in tables.items()
            },
        }


@dataclass(frozen=True)
class PairCase:
    """Two recorded clouds on the nodes of the regular one; the preemptible trace begins a day later.

    :ivar pair: one of ``PAIRS``
    :ivar is_assured: whether lifetimes are promised
    :ivar nodes: number of nodes
    :ivar seed: seed of the instants of the samples; without a promise nothing is random
    """

    pair: tuple[str, str]
    is_assured: bool
    nodes: int
    seed: int = 1
    cost_s: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        how = f"assured{block_name(self.seed)}" if self.is_assured else "no promise"
        return f"{PAIR_NAMES[self.pair]} nodes={self.nodes} {how}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        regular = recorded(self.pair[0])
        preemptible = [replace(each, arrival=each.arrival + DAY) for each in recorded(self.pair[1])]
        end = regular[-1].arrival + 1
        assurance = Assurance(PROMISE if self.is_assured else None, sample_every=end / _SAMPLES, seed=self.seed)
        cores = TRACES[self.pair[0]].cores
        result = TwoTierCloud(self.nodes, cores, assurance).run(regular, preemptible, end)
        return _figures(result, end * self.nodes * cores)


def pair(pair: tuple[str, str], nodes: int, seed: int) -> tuple[PairCase, PairCase]:
    """Return the runs of a pair without a promise and with one."""
    return PairCase(pair, False, nodes), PairCase(pair, True, nodes, seed)


def pairs(seed: int = 1) -> list[PairCase]:
    """Return the runs of tables 4.3 and 4.4."""
    return [case for names in PAIRS for case in pair(names, TRACES[names[0]].nodes, seed)]


def sizes(seed: int = 1) -> list[PairCase]:
    """Return the runs of figures 4.8 and 4.9 that are not those of ``pairs``."""
    return [case for names, counts in SIZES.items() for nodes in counts[1:] for case in pair(names, nodes, seed)]


def _figures(result: TwoTierResult, core_seconds: float) -> dict[str, Any]:
    return {
        "regular_admitted": result.regular_share,
        "admitted": result.admitted_share,
        "preempted": result.preempted_share,
        "admissions": result.admitted,
        "preemptions": result.preempted,
        "utilisation": result.busy / core_seconds,
    }
