"""Tell for each of some waiting times, before it is known, how long it is at most."""

import sys

from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.correctness import Correctness


def main(waits: list[float]) -> Correctness:
    predictor = Bmbp(quantile=0.95, confidence=0.95, window=2000)
    told = Correctness(quantile=0.95)
    for wait in waits:
        bound = predictor.bound()
        if bound is not None:
            told.judge(wait, bound)
        if predictor.observe(wait):
            print(f"after {told.judged} bounds: waits have changed")
    print(f"{told.held} of {told.judged} waits were within their bounds")
    return told


if __name__ == "__main__":
    main([float(line) for line in sys.stdin])
