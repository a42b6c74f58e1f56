"""Status messages of a run on the simulated clock (haizea F44)."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import UTC, datetime

from lease_scheduler.haizea.log_levels import STATUS
from lease_scheduler.simulation.site_run import SiteRun

LOG = logging.getLogger(__name__)


class SimulatedStatusMessages:
    """A watcher of a run that periodically logs the number of leases in each state.

    A message is due when the interval has passed on the simulated clock, and is logged at the next step of the run.

    :param interval: seconds between two messages
    :param start_time: start of the simulated clock, in seconds since the epoch
    """

    def __init__(self, interval: int, start_time: int) -> None:
        self._interval = interval
        self._start_time = start_time
        self._due = interval

    def __call__(self, run: SiteRun) -> None:
        """Log a message if one is due; called after every step of the run."""
        now = run.clock.now()
        if now < self._due:
            return
        self._due = now + self._interval
        states = Counter(lease.state.value for lease in run.engine.live_leases())
        date = datetime.fromtimestamp(self._start_time + now, UTC)
        message = "%s: %d leases are over, %d are not%s"
        LOG.log(STATUS, message, f"{date:%Y-%m-%d %H:%M:%S}", run.ended(), states.total(), state_counts(states))


def state_counts(states: Counter[str]) -> str:
    """Return the number of leases in each state, after a colon, to end a message; empty if there are none."""
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f": {counts}" if counts else ""
