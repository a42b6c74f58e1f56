"""Print what all inner loops find: ``python tests/unit/fractional/kernel_results.py compiled``, or ``plain``.

``make kernels`` runs it as well, so that numba compiles them once for all processes of the tests.
"""

from __future__ import annotations

import sys

if sys.argv[1] == "plain":
    sys.modules["numba"] = None  # type: ignore[assignment]

import numpy as np

from lease_scheduler.fractional import kernels
from lease_scheduler.fractional.genetic import GeneticOptions, evolve
from lease_scheduler.fractional.greedy import ALL, greedy
from lease_scheduler.fractional.online.names import parse
from lease_scheduler.fractional.packing.search import LEGACY_PACKERS, PACKERS, best_packing
from lease_scheduler.fractional.shares import raise_average
from lease_scheduler.simulation.fractional.loop import run_online
from lease_scheduler.simulation.generators.instances import InstanceLaw
from lease_scheduler.simulation.generators.typed_lublin import lublin_trace


def _print_all() -> None:
    for seed in range(2):
        drawn = InstanceLaw(4, 12, 4, 0.5, 0.25, 0.5).draw(seed)
        found = [greedy(drawn, *pair) for pair in ALL]
        found += [best_packing(drawn, pack) for pack in {**PACKERS, **LEGACY_PACKERS}.values()]
        found.append(evolve(drawn, np.random.default_rng(seed), GeneticOptions(6, 10)))
        for each in found:
            print(each and (each.nodes.tolist(), each.least, raise_average(drawn, each).tolist()))
    trace = lublin_trace(1, 40)
    for name in ("GreedyPM*/per/OPT=MIN/MVT=600", "MCB*/OPT=MIN", "/stretch-per/OPT=MAX"):
        run = run_online(trace, parse(name))
        print(run.ends.tolist(), run.resumed, run.moved, run.resumed_memory, run.moved_memory, trace.bound())


if __name__ == "__main__":
    assert kernels.IS_COMPILED is (sys.argv[1] != "plain")
    _print_all()
