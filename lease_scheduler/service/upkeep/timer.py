"""The thread that does what is due, when it is due."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Thread

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.service.core.clock import JumpWatch
from lease_scheduler.service.core.transactions import SiteTransactions

LOG = logging.getLogger(__name__)

#: Maximum real seconds between two checks of the clock. A wait does not notice that the clock is set, and does not
#: count the time for which the machine sleeps.
_LONGEST_WAIT = 2.0


class Timer:
    """Makes the steps of a site when they are due.

    :param site: the site
    :param on_jump: called when the clock has jumped
    """

    def __init__(self, site: SiteTransactions, on_jump: Callable[[], None]) -> None:
        self._site = site
        self._on_jump = on_jump
        self._woken = False
        self._jumps = JumpWatch()
        self._thread = Thread(target=self._run, name="planner", daemon=True)

    def start(self) -> None:
        """Do what is due from now on, until the site is closed or broken."""
        self._thread.start()

    def join(self) -> None:
        """Wait until the thread has ended, if it was started."""
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """Make the thread check whether something is due."""
        with self._site.lock:
            self._woken = True
            self._site.changed.notify_all()

    def _run(self) -> None:
        """Run the thread."""
        while True:
            with self._site.lock:
                if self._site.is_over:
                    return
                if not self._has_work():
                    pause = self._pause()
                    self._site.changed.wait(_LONGEST_WAIT if pause is None else min(pause, _LONGEST_WAIT))
                    self._note_jump()
                    if not self._has_work() and self._pause() != 0.0:
                        continue
                self._woken = False
                try:
                    # This raises if the engine was closed or broken in the meantime.
                    self._site.step()
                except EngineUnavailableError:
                    return

    def _has_work(self) -> bool:
        """Return whether there is something to do before the next instant at which something is due."""
        return self._woken or self._site.is_over or self._site.work.intents.has_reports

    def _note_jump(self) -> None:
        """Have everything that waits for an instant checked again if the clock has jumped."""
        jumped = self._jumps.jump()
        if jumped:
            direction = "forward" if jumped > 0 else "back"
            LOG.warning("the clock was set %s by %.0f s, or this machine slept", direction, abs(jumped))
            self._on_jump()

    def _pause(self) -> float | None:
        """Return the real seconds until something is due, or None if nothing will be."""
        due = self._site.next_due()
        return None if due is None else self._site.clock.seconds_until(due)
