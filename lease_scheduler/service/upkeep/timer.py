"""The worker that makes the steps of a site when something is due."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.service.core.clock import JumpWatch
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds after which a step that failed unexpectedly is tried again.
_RETRY = 2.0


class Timer(UpkeepWorker):
    """Worker that makes the steps of a site when they are due, until the site is closed or broken.

    :param site: the site
    :param on_jump: called when the clock has jumped
    """

    def __init__(self, site: SiteTransactions, on_jump: Callable[[], None]) -> None:
        super().__init__("planner", _RETRY)
        self._site = site
        self._on_jump = on_jump
        self._has_news = False
        self._jumps = JumpWatch(site.real)

    def wake(self) -> None:
        """Make a step at once."""
        self._has_news = True
        super().wake()

    def round(self, now: float) -> float | None:
        """Make a step if there is something to do."""
        self._note_jump()
        with self._site.lock:
            try:
                if self._has_work() or self._pause() == 0.0:
                    self._has_news = False
                    self._site.step()
            except EngineUnavailableError:
                # The site was closed or has broken.
                self.ask_to_stop()
                return 0.0
            waits = (self._pause(), self._site.real.longest_wait)
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _has_work(self) -> bool:
        """Return whether a step is needed now, even if no instant is due."""
        return self._has_news or self._site.is_over or self._site.work.intents.has_reports

    def _note_jump(self) -> None:
        """If the clock has jumped, have everything that waits for an instant checked again."""
        jumped = self._jumps.jump()
        if jumped:
            direction = "forward" if jumped > 0 else "back"
            LOG.warning("the clock was set %s by %.0f s, or this machine slept", direction, abs(jumped))
            self._on_jump()

    def _pause(self) -> float | None:
        """Return the real seconds until something is due, or None if nothing will be."""
        due = self._site.next_due()
        return None if due is None else self._site.clock.seconds_until(due)
