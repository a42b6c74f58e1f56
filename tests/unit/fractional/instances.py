"""Small instances for tests of fractions of hosts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lease_scheduler.fractional.problem import Instance


def instance(nodes: int, *jobs: tuple[float, Sequence[float], Sequence[float]]) -> Instance:
    """Return an instance of jobs (minimum yield, fixed requirements, fluid needs)."""
    return Instance(
        nodes,
        np.array([minimum for minimum, _, _ in jobs]),
        np.array([fixed for _, fixed, _ in jobs]),
        np.array([fluid for _, _, fluid in jobs]),
    )
