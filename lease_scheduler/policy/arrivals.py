"""How often requests arrive, and how much work they bring, learnt from one request after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class KnownArrivals:
    """What is known of the requests of one sort. The latest requests weigh most in the means.

    :ivar number: number of requests so far
    :ivar latest: instant of the latest one
    :ivar gap: mean seconds between two requests
    :ivar work: resource class -> mean of amount times seconds
    :ivar squares: resource class -> mean of the squares of the same
    """

    number: int = 0
    latest: int = 0
    gap: float = 0.0
    work: Mapping[str, float] = field(default_factory=dict)
    squares: Mapping[str, float] = field(default_factory=dict)

    def after(self, request: LeaseRequest, duration: int, window: int) -> KnownArrivals:
        """Return what is known after one more request.

        :param duration: seconds for which it counts
        """
        names = {name for node_set in request.nodes for name in node_set.resources} | set(self.work)
        work = {name: float(request.total(name) * duration) for name in names}
        weight = 1 / min(self.number + 1, window)
        gap = float(max(0, request.submitted - self.latest))
        return KnownArrivals(
            self.number + 1,
            max(self.latest, request.submitted),
            # The first request has none before it.
            self.gap + (gap - self.gap) / min(self.number, window) if self.number else 0.0,
            {name: _mixed(self.work.get(name, 0.0), work[name], weight) for name in sorted(names)},
            {name: _mixed(self.squares.get(name, 0.0), work[name] ** 2, weight) for name in sorted(names)},
        )

    @classmethod
    def restored(cls, document: Mapping[str, Any]) -> KnownArrivals:
        """Return what was stored.

        :raises InvalidValueError: it is damaged
        """
        try:
            known = cls(
                int(document["number"]),
                int(document["latest"]),
                float(document["gap"]),
                {str(name): float(value) for name, value in document["work"].items()},
                {str(name): float(value) for name, value in document["squares"].items()},
            )
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise InvalidValueError("document", "is no record of arrivals") from None
        figures = (known.number, known.gap, *known.work.values(), *known.squares.values())
        if known.work.keys() != known.squares.keys() or not all(isfinite(each) and each >= 0 for each in figures):
            raise InvalidValueError("document", "has figures that no arrivals have")
        return known

    def rate(self, now: int) -> float:
        """Return arrivals per second. When none has come for longer than the mean gap, that time is the gap."""
        gap = max(self.gap, now - self.latest)
        return 1 / gap if self.number > 1 and gap > 0 else 0.0

    def plain(self) -> dict[str, Any]:
        """Return the record in the form in which it is stored."""
        return {
            "number": self.number,
            "latest": self.latest,
            "gap": self.gap,
            "work": dict(self.work),
            "squares": dict(self.squares),
        }


def _mixed(old: float, new: float, weight: float) -> float:
    return old + (new - old) * weight
