"""The state of a simulated cluster on which jobs share CPU, in arrays for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.online.system import System

#: Indices into ``State.counts``: the next job to be submitted, the number of jobs in the system, the number of the next
#: period.
UPCOMING, PRESENT, CYCLE = range(3)
#: Indices into ``State.totals``; see ``Schedule``.
RESUMED, MOVED, RESUMED_MEMORY, MOVED_MEMORY = range(4)


class Times(NamedTuple):
    """The durations of a run, and how they are rounded.

    :ivar processing: seconds that each job takes alone
    :ivar penalty: seconds without progress after a job was resumed or moved
    :ivar is_periodic: whether everything is mapped anew periodically
    :ivar period: seconds from one such time to the next
    :ivar is_whole: whether jobs end at whole seconds, and yields are whole thousandths
    """

    processing: Floats
    penalty: float
    is_periodic: bool
    period: float
    is_whole: bool


class State(NamedTuple):
    """The state of a run; arrays by job unless said otherwise.

    :ivar system: the jobs, and which of them have which nodes
    :ivar now: a single number
    :ivar counts: see ``UPCOMING``
    :ivar totals: see ``RESUMED``
    :ivar present: jobs in the system in the order of submission, at the beginning of the array
    :ivar has_started: whether the job has ever run
    :ivar yields: its yield
    :ivar held_up_until: when the penalty ends
    :ivar ends: when it ends if its yield stays
    """

    system: System
    now: Floats
    counts: Integers
    totals: Floats
    present: Integers
    has_started: NDArray[np.bool_]
    yields: Floats
    held_up_until: Floats
    ends: Floats


def begin_state(system: System) -> State:
    """Return the state before anything is submitted."""
    jobs = len(system.release)
    return State(
        system=system,
        now=np.zeros(1),
        counts=np.zeros(3, np.int64),
        totals=np.zeros(4),
        present=np.zeros(jobs, np.int64),
        has_started=np.zeros(jobs, np.bool_),
        yields=np.zeros(jobs),
        held_up_until=np.zeros(jobs),
        ends=np.zeros(jobs),
    )
