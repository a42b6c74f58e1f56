"""How often forecasts held, counted while they are in use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class Covered:
    """How well forecasts held.

    :ivar asked: share of them that should have held; None if none was judged
    :ivar held: share of them that held; None if none was judged
    :ivar count: how many were judged
    :ivar since: instant at which the first of them was judged; None if none was
    """

    asked: float | None
    held: float | None
    count: int
    since: int | None


class Coverage:
    """Counts of forecasts that held, with the share of them that should have held.

    A forecast that is correct holds at least as often as it was asked to, up to chance (Brevik, Nurmi and Wolski,
    PPoPP 2006, section 4).

    :ivar judged: number of forecasts of which it is known whether they held
    :ivar held: number of these that held
    :ivar since: instant at which the first of them was judged; None without any
    """

    def __init__(self) -> None:
        self.judged = 0
        self.held = 0
        self.since: int | None = None
        self._asked = 0.0

    def judge(self, asked: float, now: int, *, held: bool) -> None:
        """Count a forecast.

        :param asked: probability with which it was to hold
        """
        self.judged += 1
        self.held += held
        self._asked += asked
        self.since = now if self.since is None else min(self.since, now)

    def covered(self) -> Covered:
        """Return how well they held."""
        count = self.judged
        return Covered(self._asked / count if count else None, self.held / count if count else None, count, self.since)

    def stored(self) -> Mapping[str, Any]:
        """Return the counts, as plain values."""
        return {"judged": self.judged, "held": self.held, "asked": self._asked, "since": self.since}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Go on with what ``stored`` has returned.

        :raises InvalidValueError: it is damaged
        """
        try:
            judged, held, asked = int(stored["judged"]), int(stored["held"]), float(stored["asked"])
            since = None if stored["since"] is None else int(stored["since"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("state", f"must be what stored() has returned: {error!r}") from None
        if not math.isfinite(asked) or not 0 <= held <= judged:
            raise InvalidValueError("state", f"must have a finite sum and 0 <= held <= judged, not {dict(stored)}")
        self.judged, self.held, self._asked, self.since = judged, held, asked, since
