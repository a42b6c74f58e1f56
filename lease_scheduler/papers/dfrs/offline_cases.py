"""The runs of chapter 4 of Stillwell 2010: the least yield of random instances, by algorithm.

Algorithms are imported when a case is run, as numba takes a second to load, which no other command should pay for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lease_scheduler.papers.replications import FIRST_SEED, block_name

if TYPE_CHECKING:
    from lease_scheduler.fractional.problem import Instance

#: The scenarios of section 4.3.
NODES, SMALL_NODES = 64, 4
JOBS, SMALL_JOBS = (100, 200, 500), (8, 10, 12)
DIMENSIONS = (2, 4, 6)
SIGMAS = (0.25, 0.5, 1.0)
GUARANTEED = (0.0, 0.25, 0.5)
SLACKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

#: Most instances of a scenario, so that no two of them have the same seed.
_MOST_INSTANCES = 1000

#: Digits of yields in outcomes.
_DIGITS = 6


@dataclass(frozen=True)
class OfflineCase:
    """All instances of some scenarios: those that differ in minimum yields and slack only.

    :ivar jobs: number of jobs, on 64 nodes
    :ivar dimensions: number of dimensions, half of which are fixed
    :ivar sigma: standard deviation of requirements and needs
    :ivar instances: number of instances of each scenario
    :ivar seed: which block of instances
    """

    jobs: int
    dimensions: int
    sigma: float
    instances: int
    seed: int = FIRST_SEED

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return (
            f"off-line J={self.jobs} D={self.dimensions} sigma={self.sigma:g} x {self.instances}{block_name(self.seed)}"
        )

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return self.instances * self.jobs * self.dimensions / 500

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``.

        Lists have an entry for each instance: the bound, and the least yield by algorithm, None if it fails. For each
        greedy pair there are the number of instances that it solves, the sum of its relative degradations, and how
        often it is the best one.
        """
        from lease_scheduler.fractional.greedy import ALL, LIGHT, greedy
        from lease_scheduler.fractional.packing.search import LEGACY_PACKERS, PACKERS, best_packing
        from lease_scheduler.fractional.shares import raise_average, utilisation

        packers = {**PACKERS, **LEGACY_PACKERS}
        found: dict[str, Any] = {key: [] for key in ("guaranteed", "slack", "bound", *packers, "GREEDY", "GREEDYLIGHT")}
        found |= {"before": [], "after": []}
        pairs = {f"{sort.name}{pick.name}": [0, 0.0, 0] for sort, pick in ALL}
        for scenario, instance, bound in instances_of(self, NODES):
            found["guaranteed"].append(scenario[0])
            found["slack"].append(scenario[1])
            found["bound"].append(None if bound is None else round(bound, _DIGITS))
            placements = {name: best_packing(instance, pack) for name, pack in packers.items()}
            for name, placement in placements.items():
                found[name].append(None if placement is None else round(placement.target or 0.0, _DIGITS))
            chosen = placements["CPSUM"]
            if chosen is not None:
                scaled = raise_average(instance, chosen)
                before = utilisation(instance, chosen, scaled * 0 + chosen.least)
                found["before"].append(before)
                found["after"].append(utilisation(instance, chosen, scaled))
            least = {}
            for sort, pick in ALL:
                greedily = greedy(instance, sort, pick)
                if greedily is not None:
                    least[sort, pick] = greedily.least
            for name, among in (("GREEDY", ALL), ("GREEDYLIGHT", LIGHT)):
                solved = [least[pair] for pair in among if pair in least]
                found[name].append(round(max(solved), _DIGITS) if solved else None)
            for (sort, pick), value in least.items():
                figures = pairs[f"{sort.name}{pick.name}"]
                figures[0] += 1
                figures[1] += 1 - value / bound if bound else 0.0
                figures[2] += value == max(least.values())
        return {**found, "pairs": [[name, *figures] for name, figures in pairs.items()]}


@dataclass(frozen=True)
class OptimumCase:
    """Small instances, which can be solved exactly (section 4.4.6, figure 4.3).

    Fields are those of ``OfflineCase``; there are four nodes.
    """

    jobs: int
    dimensions: int
    sigma: float
    instances: int
    seed: int = FIRST_SEED

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return (
            f"optimum J={self.jobs} D={self.dimensions} sigma={self.sigma:g} x {self.instances}{block_name(self.seed)}"
        )

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return self.instances * self.jobs / 2

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``.

        Lists have an entry for each instance, None where there is no placement: the least yields of placements, and the
        yield that the search of CPSUM has reached.
        """
        from lease_scheduler.fractional.greedy import best_of
        from lease_scheduler.fractional.linear.programs import optimum
        from lease_scheduler.fractional.packing.search import PACKERS, best_packing

        keys = ("slack", "bound", "OPT", "CPSUM", "GREEDY", "CPSUM search")
        found: dict[str, list[float | None]] = {key: [] for key in keys}
        for (_, slack), instance, bound in instances_of(self, SMALL_NODES):
            found["slack"].append(slack)
            found["bound"].append(bound)
            packed = best_packing(instance, PACKERS["CPSUM"])
            for name, placement in (("OPT", optimum(instance)), ("CPSUM", packed), ("GREEDY", best_of(instance))):
                found[name].append(None if placement is None else round(placement.least, _DIGITS))
            target = None if packed is None else packed.target
            found["CPSUM search"].append(None if target is None else round(target, _DIGITS))
        return found


def instances_of(
    case: OfflineCase | OptimumCase, nodes: int
) -> Iterator[tuple[tuple[float, float], Instance, float | None]]:
    """Yield (share with a minimum, slack), instance and bound. All instances with the same number of jobs differ in
    seed.
    """
    from lease_scheduler.fractional.bounds import yield_bound
    from lease_scheduler.simulation.generators.instances import InstanceLaw

    scenarios = [(guaranteed, slack) for guaranteed in GUARANTEED for slack in SLACKS]
    place = DIMENSIONS.index(case.dimensions) * len(SIGMAS) + SIGMAS.index(case.sigma)
    before = (case.seed - 1) * len(DIMENSIONS) * len(SIGMAS) * len(scenarios) * _MOST_INSTANCES
    for number, (guaranteed, slack) in enumerate(scenarios):
        law = InstanceLaw(nodes, case.jobs, case.dimensions, case.sigma, guaranteed, slack)
        for repetition in range(case.instances):
            seed = before + (place * len(scenarios) + number) * _MOST_INSTANCES + repetition
            instance = law.draw(seed)
            yield (guaranteed, slack), instance, yield_bound(instance)


def offline_cases(instances: int, seed: int = FIRST_SEED) -> list[OfflineCase]:
    """Return the runs of all 729 scenarios."""
    return [
        OfflineCase(jobs, dimensions, sigma, instances, seed)
        for jobs in JOBS
        for dimensions in DIMENSIONS
        for sigma in SIGMAS
    ]


def optimum_cases(jobs: tuple[int, ...], instances: int, seed: int = FIRST_SEED) -> list[OptimumCase]:
    """Return the runs of all small scenarios with these numbers of jobs."""
    return [
        OptimumCase(count, dimensions, sigma, instances, seed)
        for count in jobs
        for dimensions in DIMENSIONS
        for sigma in SIGMAS
    ]
