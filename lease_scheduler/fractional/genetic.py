"""The genetic algorithm: placements as chromosomes, which are repaired (GA; Stillwell 2010, section 4.2.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.problem import Instance, Placement, place
from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class GeneticOptions:
    """How long and how the algorithm searches; the defaults are those of the dissertation.

    :ivar population: number of chromosomes, at least 2
    :ivar generations: number of generations
    :ivar mutation: probability that two jobs of a chromosome change places
    :ivar crossover: probability that two chromosomes exchange their ends
    :raises InvalidValueError: a number is out of bounds
    """

    population: int = 100
    generations: int = 2000
    mutation: float = 0.1
    crossover: float = 0.25

    def __post_init__(self) -> None:
        if self.population < 2:
            raise InvalidValueError("population", f"must be at least 2, not {self.population}")
        if self.generations < 0:
            raise InvalidValueError("generations", f"must be at least 0, not {self.generations}")
        for field in ("mutation", "crossover"):
            if not 0 <= getattr(self, field) <= 1:
                raise InvalidValueError(field, f"must be from 0 to 1, not {getattr(self, field)}")


def evolve(instance: Instance, random: np.random.Generator, options: GeneticOptions | None = None) -> Placement | None:
    """Return the best placement that any generation has, or None if none is feasible.

    A chromosome is the node of each job. Parents are drawn by their fitness: the number of nodes that are not
    overloaded, or the number of nodes times (1 + least yield) if none is. Every new chromosome is repaired: from an
    overloaded node, the smallest job that cures it alone, or else the largest, moves to the first node where it fits.
    """
    options = options or GeneticOptions()
    if instance.jobs == 0:
        return place(instance, np.empty(0, np.int64))
    nodes = _evolved(
        np.hstack([instance.fixed, instance.constrained]),
        np.ascontiguousarray((1 - instance.minimum)[:, None] * instance.fluid),
        instance.fixed.shape[1],
        instance.nodes,
        options.population,
        options.generations,
        options.mutation,
        options.crossover,
        random,
    )
    return place(instance, nodes)


@compiled
def _evolved(
    rigid: Floats,
    rest: Floats,
    fixed: int,
    count: int,
    population: int,
    generations: int,
    mutation: float,
    crossover: float,
    random: np.random.Generator,
) -> Integers:
    """Return the chromosome with the highest fitness.

    :param rigid: jobs x (fixed dimensions, then constrained needs)
    :param rest: jobs x fluid dimensions: needs above the constrained ones
    """
    jobs = len(rigid)
    current = np.empty((population, jobs), np.int64)
    fitness = np.empty(population)
    best = np.empty(jobs, np.int64)
    highest = -1.0
    for member in range(population):
        for job in range(jobs):
            current[member, job] = int(random.random() * count)
        fitness[member] = _repaired(current[member], rigid, rest, fixed, count)
        if fitness[member] > highest:
            highest = fitness[member]
            best[:] = current[member]
    following = np.empty_like(current)
    following_fitness = np.empty(population)
    for _ in range(generations):
        chances = np.cumsum(fitness)
        for member in range(0, population, 2):
            mother = min(np.searchsorted(chances, random.random() * chances[-1]), population - 1)
            father = min(np.searchsorted(chances, random.random() * chances[-1]), population - 1)
            # The last of an odd number has no sibling.
            both = min(2, population - member)
            cut = int(random.random() * jobs) if random.random() < crossover else jobs
            for child in range(both):
                one, other = (mother, father) if child == 0 else (father, mother)
                chromosome = following[member + child]
                chromosome[:cut] = current[one, :cut]
                chromosome[cut:] = current[other, cut:]
                changed = cut < jobs
                if random.random() < mutation:
                    left, right = int(random.random() * jobs), int(random.random() * jobs)
                    chromosome[left], chromosome[right] = chromosome[right], chromosome[left]
                    changed = True
                # A copy has been repaired before.
                following_fitness[member + child] = (
                    _repaired(chromosome, rigid, rest, fixed, count) if changed else fitness[one]
                )
                if following_fitness[member + child] > highest:
                    highest = following_fitness[member + child]
                    best[:] = chromosome
        current, following = following, current
        fitness, following_fitness = following_fitness, fitness
    return best


@compiled
def _repaired(chromosome: Integers, rigid: Floats, rest: Floats, fixed: int, count: int) -> float:
    """Repair a chromosome in place as far as possible, and return its fitness."""
    jobs, dimensions = rigid.shape
    held = np.zeros((count, dimensions))
    for job in range(jobs):
        for dimension in range(dimensions):
            held[chromosome[job], dimension] += rigid[job, dimension]
    for node in range(count):
        for dimension in range(dimensions):
            while held[node, dimension] > 1 + TOLERANCE:
                chosen, target = _move(chromosome, rigid, held, node, dimension)
                if target < 0:
                    break
                chromosome[chosen] = target
                for each in range(dimensions):
                    held[node, each] -= rigid[chosen, each]
                    held[target, each] += rigid[chosen, each]
    sound = 0
    for node in range(count):
        if (held[node] <= 1 + TOLERANCE).all():
            sound += 1
    if sound < count:
        return float(sound)
    wanted = np.zeros((count, rest.shape[1]))
    for job in range(jobs):
        for dimension in range(rest.shape[1]):
            wanted[chromosome[job], dimension] += rest[job, dimension]
    least = 1.0
    for node in range(count):
        for dimension in range(rest.shape[1]):
            if wanted[node, dimension] > 0:
                least = min(least, (1 - held[node, fixed + dimension]) / wanted[node, dimension])
    return count * (1 + max(least, 0.0))


@compiled
def _move(chromosome: Integers, rigid: Floats, held: Floats, node: int, dimension: int) -> tuple[int, int]:
    """Return the job that leaves an overloaded node, and the first node where it fits, -1 if there is none."""
    jobs, dimensions = rigid.shape
    excess = held[node, dimension] - 1 - TOLERANCE
    curing, largest = -1, -1
    for job in range(jobs):
        if chromosome[job] != node:
            continue
        size = rigid[job, dimension]
        if size >= excess and (curing < 0 or size < rigid[curing, dimension]):
            curing = job
        if largest < 0 or size > rigid[largest, dimension]:
            largest = job
    chosen = curing if curing >= 0 else largest
    for target in range(len(held)):
        if target == node:
            continue
        each = 0
        while each < dimensions and held[target, each] + rigid[chosen, each] <= 1 + TOLERANCE:
            each += 1
        if each == dimensions:
            return chosen, target
    return chosen, -1
