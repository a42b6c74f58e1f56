"""A rate that adapts to the quotes that projects accept and decline."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.pricing.base import PricingPolicy


@dataclass(frozen=True, slots=True)
class _Bracket:
    """Bounds of the highest rate that a project would pay.

    :ivar accepted: the highest rate that the project accepted, or None
    :ivar refused: the lowest rate that the project declined, or None
    :ivar settled: whether the bounds are final
    """

    accepted: float | None = None
    refused: float | None = None
    settled: bool = False


class Adaptive(PricingPolicy):
    """Charges the median of the estimated highest rates of all projects.

    This is ADAPTIVE of Sotomayor 2010, algorithm 7 (haizea F80). For each project the policy remembers the highest rate
    that it accepted and the lowest that it declined. The estimate of its highest rate is

    * ``pricing_up`` (1.5) times the accepted rate, if it has declined none;
    * ``pricing_down`` (0.5) times the declined rate, if it has accepted none;
    * else the middle between the two. The estimate is then final as soon as the project accepts a rate again.

    The rate is the ``pricing_percentile`` (0.5) of all estimates; for an even number of estimates this is the upper
    median. Until there are estimates it is ``pricing_rate`` (1.00; the dissertation does not say). It has no bounds.

    If the two rates of a project are closer than ``pricing_resolution`` (0) times the declined rate, the estimate is
    the accepted rate. With 0, as in the printed algorithm, the interval is halved without end. If many projects would
    pay the same rate, those that rarely make requests can then keep the rate slightly above it, so that all quotes are
    declined. 0.001 avoids that.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._first = options.number("pricing_rate", 1.0)
        self._up = options.number("pricing_up", 1.5)
        self._down = options.number("pricing_down", 0.5)
        self._resolution = options.number("pricing_resolution", 0.0)
        self._percentile = options.number("pricing_percentile", 0.5)
        if self._percentile >= 1:
            raise InvalidValueError("policy option pricing_percentile", f"must be below 1, not {self._percentile}")
        self._brackets: dict[str, _Bracket] = {}
        self._estimates: list[float] = []
        self._changed: dict[str, None] = {}

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        if not self._estimates:
            return self._first
        return self._estimates[int(len(self._estimates) * self._percentile)]

    def answered(self, user: str | None, rate: float, *, accepted: bool) -> None:
        """See ``PricingPolicy.answered``."""
        key = user or ""
        before = self._brackets.get(key)
        after = _narrowed(before or _Bracket(), rate, accepted=accepted)
        if after == before:
            return
        if before is not None:
            del self._estimates[bisect_left(self._estimates, self._estimate(before))]
        insort(self._estimates, self._estimate(after))
        self._brackets[key] = after
        self._changed[key] = None

    def _estimate(self, bracket: _Bracket) -> float:
        if bracket.accepted is None:
            assert bracket.refused is not None
            return bracket.refused * self._down
        if bracket.refused is None:
            return bracket.accepted * self._up
        if abs(bracket.refused - bracket.accepted) < self._resolution * bracket.refused:
            return bracket.accepted
        return (bracket.refused + bracket.accepted) / 2

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, {}
        return {
            key: {"accepted": bracket.accepted, "refused": bracket.refused, "settled": bracket.settled}
            for key in changed
            for bracket in (self._brackets[key],)
        }

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``."""
        self._brackets = {
            key: _Bracket(values["accepted"], values["refused"], bool(values["settled"]))
            for key, values in learnt.items()
        }
        self._estimates = sorted(self._estimate(bracket) for bracket in self._brackets.values())
        self._changed = {}


def _narrowed(bracket: _Bracket, rate: float, *, accepted: bool) -> _Bracket:
    """Return the bracket after one more answer. A settled bracket never changes."""
    if bracket.settled:
        return bracket
    if not accepted:
        return replace(bracket, refused=rate if bracket.refused is None else min(rate, bracket.refused))
    if bracket.accepted is None:
        return replace(bracket, accepted=rate)
    if bracket.refused is not None:
        # The algorithm settles on the middle, without raising the lower bound.
        return replace(bracket, settled=True)
    return replace(bracket, accepted=max(rate, bracket.accepted))
