"""How much of its share each flow has used of each window (Grit 2007, section 5.5.2; shirako F98, F100)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Shares are compared with this relative tolerance, as they are quotients of weights.
TOLERANCE = 1e-9


class WindowUse:
    """What a flow has used of its share of each window.

    Windows are fixed frames: window n is ``[n * length, (n + 1) * length)``. The whole cost of a request is charged to
    the window in which it starts. With debt, a request that costs more than the share of a window may start in a window
    in which the flow has some of its share left. What it uses beyond the share is a debt: each window that follows
    begins with it, and pays one share of it.

    Only costs are kept, so that a refund takes back exactly what was charged. The debt follows from them.

    :ivar used: cost charged to each window, by its number
    :ivar owing: the part of it that was charged for requests that cost more than a share
    :ivar first: the first window that is kept
    :ivar debt: debt with which that window began
    """

    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.owing: dict[int, int] = {}
        self.first = 0
        self.debt = 0

    @property
    def is_clear(self) -> bool:
        """Whether nothing was charged to the windows that are kept, and nothing is owed."""
        return not self.used and not self.debt

    def owed(self, window: int, share: float) -> float:
        """Return the debt with which a window begins.

        :param share: the cost that the flow may use of a window
        """
        if not self.debt and not self.owing:
            return 0.0
        owed, at = float(self.debt), self.first
        for each, cost in sorted(self.owing.items()):
            if each >= window:
                break
            owed = max(0.0, owed - share * (each - at)) + cost
            at = each
        return max(0.0, owed - share * (window - at)) if window > at else owed

    def of(self, window: int, share: float) -> float:
        """Return what the flow has used of a window, with the debt of those before.

        :param share: the cost that it may use of a window
        """
        return self.owed(window, share) + self.used.get(window, 0)

    def allows(self, window: int, cost: int, share: float, *, debt: bool) -> bool:
        """Return whether a request may start in a window.

        :param share: the cost that the flow may use of a window
        :param debt: whether requests that cost more than ``share`` are allowed
        """
        used = self.of(window, share)
        if used + cost <= share * (1 + TOLERANCE):
            return True
        return debt and cost > share and used < share * (1 - TOLERANCE)

    def left(self, first: int, last: int, share: float, *, debt: bool) -> float:
        """Return the largest cost that may start in one of the windows; infinite if debt allows any."""
        most = max([share - self.of(window, share) for window in range(first, last + 1)])
        return float("inf") if debt and most > share * TOLERANCE else most + share * TOLERANCE

    def add(self, window: int, cost: int, *, owes: bool = False) -> None:
        """Charge a request that starts in a window.

        :param owes: whether later windows pay what it costs beyond the share of this one
        """
        if window >= self.first:
            self.used[window] = self.used.get(window, 0) + cost
            if owes:
                self.owing[window] = self.owing.get(window, 0) + cost
        elif owes:
            self.debt += cost

    def refund(self, window: int, cost: int, *, owes: bool = False) -> None:
        """Take back what was charged for a request, or a part of it.

        Of windows that are dropped only the debt is left, so only that can become less.

        :param window: the window to which it was charged
        :param owes: as for ``add``
        """
        if window >= self.first:
            _take(self.used, window, cost)
            if owes:
                _take(self.owing, window, cost)
        elif owes:
            self.debt = max(0, self.debt - cost)

    def go_back_to(self, window: int) -> None:
        """Keep a dropped window again, because the clock of the site was set back."""
        self.first = min(self.first, window)

    def forget_before(self, window: int, share: float) -> None:
        """Drop the windows before this one, and keep the debt that they leave.

        :param share: the cost that the flow may use of a window
        """
        if window <= self.first:
            return
        self.debt, self.first = round(self.owed(window, share)), window
        for costs in (self.used, self.owing):
            for old in [each for each in costs if each < window]:
                del costs[old]

    def as_document(self) -> dict[str, Any]:
        """Return it as plain values, for ``of_document``. Costs are text: they may exceed the numbers of JSON."""
        found: dict[str, Any] = {"used": _as_text(self.used)} if self.used else {}
        if self.owing:
            found["owing"] = _as_text(self.owing)
        if self.debt:
            found.update(first=self.first, debt=str(self.debt))
        return found

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> WindowUse:
        """Return it from plain values. Debts of versions that spread them over windows are not taken over."""
        found = cls()
        found.used = {int(window): int(cost) for window, cost in document.get("used", {}).items()}
        found.owing = {int(window): int(cost) for window, cost in document.get("owing", {}).items()}
        found.first, found.debt = int(document.get("first", 0)), int(document.get("debt", 0))
        return found

    def copy(self) -> WindowUse:
        """Return an independent copy."""
        found = WindowUse()
        found.used, found.owing, found.first, found.debt = dict(self.used), dict(self.owing), self.first, self.debt
        return found


def _take(costs: dict[int, int], window: int, cost: int) -> None:
    left = costs.get(window, 0) - cost
    if left > 0:
        costs[window] = left
    else:
        costs.pop(window, None)


def _as_text(costs: Mapping[int, int]) -> dict[str, str]:
    return {str(window): str(cost) for window, cost in sorted(costs.items())}
