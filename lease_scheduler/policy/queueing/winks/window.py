"""How much of its share each flow has used of each window (Grit 2007, section 5.5.2; shirako F98, F100)."""

from __future__ import annotations

from collections.abc import Mapping

#: Shares are compared with this relative tolerance, as they are quotients of weights.
TOLERANCE = 1e-9


class WindowUse:
    """What a flow has used of its share of each window.

    Windows are fixed frames: window n is ``[n * length, (n + 1) * length)``. The whole cost of a request is charged to
    the window in which it starts. With debt, a request that costs more than the share of a window may start in a window
    of which the flow has something left; what it uses beyond that is taken from the windows that follow.

    :ivar used: cost charged to each window, by its number
    :ivar spent_before: the share of every window before this one is used up by debt
    """

    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.spent_before = 0

    def of(self, window: int, share: float) -> float:
        """Return what the flow has used of a window.

        :param share: the cost that it may use of a window
        """
        used = self.used.get(window, 0)
        return max(used, share) if window < self.spent_before else used

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

    def add(self, window: int, cost: int, share: float, *, debt: bool) -> None:
        """Charge a request that starts in a window."""
        if not debt or cost <= share or share <= 0:
            self.used[window] = self.used.get(window, 0) + cost
            return
        owed, at = float(cost), window
        last = max([window, self.spent_before - 1, *self.used])
        while owed > 0 and at <= last:
            taken = min(owed, max(0.0, share - self.of(at, share)))
            self.used[at] = self.used.get(at, 0) + round(taken)
            owed -= taken
            at += 1
        if owed <= 0:
            return
        whole = int(owed // share)
        if whole:
            self.spent_before = at + whole
        self.used[at + whole] = self.used.get(at + whole, 0) + round(owed - whole * share)

    def refund(self, window: int, cost: int) -> None:
        """Take back the charge of a request that does not start in the window after all."""
        left = self.used.get(window, 0) - cost
        if left > 0:
            self.used[window] = left
        else:
            self.used.pop(window, None)

    def forget_before(self, window: int) -> None:
        """Drop the windows before this one."""
        for old in [each for each in self.used if each < window]:
            del self.used[old]
        if self.spent_before <= window:
            self.spent_before = 0

    def as_document(self) -> dict[str, int]:
        """Return it as plain values, for ``of_document``."""
        found = {str(window): cost for window, cost in sorted(self.used.items())}
        return {**found, "spent_before": self.spent_before} if self.spent_before else found

    @classmethod
    def of_document(cls, document: Mapping[str, int]) -> WindowUse:
        """Return it from plain values."""
        found = cls()
        found.spent_before = document.get("spent_before", 0)
        found.used = {int(window): cost for window, cost in document.items() if window != "spent_before"}
        return found

    def copy(self) -> WindowUse:
        """Return an independent copy."""
        found = WindowUse()
        found.used, found.spent_before = dict(self.used), self.spent_before
        return found
