"""The thread that has done what is due, when it is due."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Thread

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.service.clock import JumpWatch
from lease_scheduler.service.site_plan import SitePlan

LOG = logging.getLogger(__name__)

#: Longest real seconds between two looks at the clock. A wait is not cut short when somebody sets the clock, and does
#: not count the time for which a machine sleeps.
_LONGEST_WAIT = 2.0


class Timer:
    """See the module.

    :param site: whose steps are made
    :param on_jump: called when the clock has jumped
    """

    def __init__(self, site: SitePlan, on_jump: Callable[[], None]) -> None:
        self._site = site
        self._on_jump = on_jump
        self._woken = False
        self._jumps = JumpWatch()
        self._thread = Thread(target=self._run, name="planner", daemon=True)

    def start(self) -> None:
        """Do what is due from now on, until the site is closed or broken."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the step that is being made, if any."""
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """Have the planner look whether something is due."""
        with self._site.lock:
            self._woken = True
            self._site.changed.notify_all()

    def _run(self) -> None:
        """The planner's thread."""
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
                    # Refused by an engine that was closed or broken in the meantime.
                    self._site.step()
                except EngineUnavailableError:
                    return

    def _has_work(self) -> bool:
        """Whether the planner need not wait until something is due."""
        return self._woken or self._site.is_over or self._site.work.intents.has_reports

    def _note_jump(self) -> None:
        """Have what waits for an instant looked at again if the clock has jumped."""
        jumped = self._jumps.jump()
        if jumped:
            direction = "forward" if jumped > 0 else "back"
            LOG.warning("the clock was set %s by %.0f s, or this machine slept", direction, abs(jumped))
            self._on_jump()

    def _pause(self) -> float | None:
        """Real seconds until something is due, none if nothing is."""
        due = self._site.next_due()
        return None if due is None else self._site.clock.seconds_until(due)
