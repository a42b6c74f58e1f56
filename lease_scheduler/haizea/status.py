"""Status messages of an interactive simulation (haizea F44)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Thread
from typing import Any

from keystoneauth1.exceptions import ClientException
from osc_lib.exceptions import CommandError

from lease_scheduler.haizea.log_levels import STATUS
from lease_scheduler.haizea.simulated_status import state_counts

LOG = logging.getLogger(__name__)


class StatusMessages:
    """A thread that periodically logs the number of leases in each state.

    :param live_leases: returns the live leases from the REST service
    :param interval: seconds between two messages
    """

    def __init__(self, live_leases: Callable[[], Iterable[Mapping[str, Any]]], interval: float) -> None:
        self._live_leases = live_leases
        self._interval = interval
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="status", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop logging, and wait for the thread to end."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                states = Counter(str(lease["state"]) for lease in self._live_leases())
            except (ClientException, CommandError) as error:
                LOG.warning("the state of the service is unknown: %s", error)
                continue
            LOG.log(STATUS, "%d leases are not over%s", states.total(), state_counts(states))
