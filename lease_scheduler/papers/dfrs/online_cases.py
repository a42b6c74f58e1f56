"""The runs of chapters 5 and 6 of Stillwell 2010: on-line algorithms on weeks of HPC2N and on Lublin traces.

Algorithms are imported when a case is run, as numba takes a second to load, which no other command should pay for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.replications import FIRST_SEED, block

if TYPE_CHECKING:
    from lease_scheduler.simulation.fractional.trace import Schedule, Trace

#: Log in the folder of workload logs, its number of weeks, and its name in cases.
LOG_FILE, WEEKS, LOG = "pwa/HPC2N-2002-2.1-cln.swf.gz", 182, "HPC2N"
#: Name of generated traces in cases.
LUBLIN = "Lublin"

#: Batch schedulers beside the on-line algorithms; the values are those of ``Backfilling``.
BATCH = ("FCFS", "EASY", "legacy EASY")

#: Memory of a node, for bandwidths only (section 6.1).
_NODE_GB = 8
_DIGITS = 6


@dataclass(frozen=True)
class OnlineCase:
    """Some algorithms on some traces.

    :ivar source: ``LOG`` or ``LUBLIN``
    :ivar load: load that traces are scaled to; None for unscaled ones
    :ivar first: number of the first trace
    :ivar count: number of traces
    :ivar rows: algorithms by name
    :ivar period: seconds between two times at which everything is mapped anew
    """

    source: str
    load: float | None
    first: int
    count: int
    rows: tuple[str, ...]
    period: int = 600

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        load = "" if self.load is None else f" load {self.load:g}"
        rows = self.rows[0] if len(self.rows) == 1 else f"{self.rows[0]} and {len(self.rows) - 1} more"
        return f"{self.source}{load} {self.first} to {self.first + self.count - 1}, period {self.period}: {rows}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        each = 0.2 if self.source == LOG else 0.1
        # A linear program for each event takes longer.
        return self.count * sum(5.0 if "OPT=AVG" in row else each for row in self.rows)

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``.

        Lists have an entry for each trace: the bound of the largest stretch, and by algorithm the degradation from it,
        then GB/s, occurrences per hour and occurrences per job, of pauses and of moves each.
        """
        traces = [self._trace(number) for number in range(self.first, self.first + self.count)]
        bounds = [trace.bound() for trace in traces]
        found: dict[str, Any] = {"bound": [round(bound, _DIGITS) for bound in bounds]}
        for row in self.rows:
            found[row] = [
                _figures(trace, bound, _schedule(trace, row, self.period))
                for trace, bound in zip(traces, bounds, strict=True)
            ]
        return found

    def _trace(self, number: int) -> Trace:
        from lease_scheduler.simulation.generators.typed_lublin import lublin_trace

        trace = _weeks()[number] if self.source == LOG else lublin_trace(number)
        return trace if self.load is None else trace.scaled(self.load)


@lru_cache(maxsize=1)
def _weeks() -> list[Trace]:
    from lease_scheduler.simulation.fractional.log_weeks import log_weeks

    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {LOG}")
    return log_weeks(folder / LOG_FILE)


def _schedule(trace: Trace, row: str, period: int) -> Schedule:
    from lease_scheduler.fractional.online.names import parse
    from lease_scheduler.simulation.fractional.batch import Backfilling, run_batch
    from lease_scheduler.simulation.fractional.loop import run_online

    if row in BATCH:
        return run_batch(trace, Backfilling(row))
    return run_online(trace, parse(row), period=float(period))


def _figures(trace: Trace, bound: float, schedule: Schedule) -> list[float]:
    seconds = float(schedule.ends.max() - trace.release[0])
    figures = [float(trace.stretches(schedule.ends).max()) / bound]
    for memory, occurrences in (
        (schedule.resumed_memory, schedule.resumed),
        (schedule.moved_memory, schedule.moved),
    ):
        figures += [_NODE_GB * memory / seconds, 3600 * occurrences / seconds, occurrences / len(trace.release)]
    return [round(figure, _DIGITS) for figure in figures]


def online_cases(
    source: str,
    count: int,
    rows: Sequence[str],
    *,
    loads: Sequence[float | None] = (None,),
    periods: Sequence[int] = (600,),
    at_once: int = 10,
    seed: int = FIRST_SEED,
) -> list[OnlineCase]:
    """Return the runs of some algorithms on a block of traces of a source.

    :param count: size of the block
    :param at_once: most traces of a case
    :param seed: which block of generated traces; of a log there is one only
    """
    numbers = block(seed if source == LUBLIN else FIRST_SEED, count)
    return [
        OnlineCase(source, load, first, min(at_once, numbers.stop - first), tuple(rows), period)
        for load in loads
        for period in periods
        for first in numbers[::at_once]
    ]
