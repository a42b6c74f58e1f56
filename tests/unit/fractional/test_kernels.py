"""Compiled and plain inner loops give the same results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys
if sys.argv[1] == "plain":
    sys.modules["numba"] = None

import numpy as np
from lease_scheduler.fractional import kernels
from lease_scheduler.fractional.genetic import GeneticOptions, evolve
from lease_scheduler.fractional.greedy import ALL, greedy
from lease_scheduler.fractional.packing.search import LEGACY_PACKERS, PACKERS, best_packing
from lease_scheduler.fractional.online.names import parse
from lease_scheduler.fractional.shares import raise_average
from lease_scheduler.simulation.fractional.loop import run_online
from lease_scheduler.simulation.generators.instances import InstanceLaw
from lease_scheduler.simulation.generators.typed_lublin import lublin_trace

assert kernels.IS_COMPILED == (sys.argv[1] != "plain")
for seed in range(2):
    drawn = InstanceLaw(4, 12, 4, 0.5, 0.25, 0.5).draw(seed)
    found = [greedy(drawn, *pair) for pair in ALL]
    found += [best_packing(drawn, pack) for pack in (PACKERS | LEGACY_PACKERS).values()]
    found.append(evolve(drawn, np.random.default_rng(seed), GeneticOptions(6, 10)))
    for each in found:
        print(each and (each.nodes.tolist(), each.least, raise_average(drawn, each).tolist()))
trace = lublin_trace(1, 40)
for name in ("GreedyPM*/per/OPT=MIN/MVT=600", "MCB*/OPT=MIN", "/stretch-per/OPT=MAX"):
    found = run_online(trace, parse(name))
    print(found.ends.tolist(), found.resumed, found.moved, found.resumed_memory, found.moved_memory, trace.bound())
"""


def test_compiled_and_plain_code_give_the_same_results() -> None:
    """dfrs: the extra ``fast`` changes nothing but the speed."""
    pytest.importorskip("numba")
    root = Path(__file__).parents[3]
    compiled, plain = (
        subprocess.run(
            [sys.executable, "-c", _SCRIPT, way], capture_output=True, text=True, check=True, cwd=root
        ).stdout
        for way in ("compiled", "plain")
    )
    assert compiled.count("[") > 100
    assert compiled == plain
