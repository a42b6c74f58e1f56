"""Messages about the state of a run on the simulated clock (haizea F44, section 9.1)."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import UTC, datetime

from lease_scheduler.haizea.log_levels import STATUS
from lease_scheduler.simulation.run import Run

LOG = logging.getLogger(__name__)


class SimulatedStatusMessages:
    """Looks at a run and logs now and then, by the simulated clock, how many leases are in which state.

    A message is due when so much time has gone by since the last one, and is logged with the next thing that happens.

    :param interval: seconds between two messages
    :param start_time: when the simulated clock starts, seconds since the epoch
    """

    def __init__(self, interval: int, start_time: int) -> None:
        self._interval = interval
        self._start_time = start_time
        self._due = interval

    def __call__(self, run: Run) -> None:
        """A step of the run is over."""
        now = run.clock.now()
        if now < self._due:
            return
        self._due = now + self._interval
        states = Counter(lease.state.value for lease in run.engine.live_leases())
        date = datetime.fromtimestamp(self._start_time + now, UTC)
        message = "%s: %d leases are over, %d are not%s"
        LOG.log(STATUS, message, f"{date:%Y-%m-%d %H:%M:%S}", run.ended(), states.total(), state_counts(states))


def state_counts(states: Counter[str]) -> str:
    """The end of a message that says how many there are: a colon and how many of them are in which state."""
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f": {counts}" if counts else ""
