"""A random rate."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.pricing.base import PricingPolicy

_KEY = "quotes"
#: Bits of a float's fraction.
_BITS = 53


class Random(PricingPolicy):
    """Draws a uniformly distributed rate for each quote (RANDOM of Sotomayor 2010, section 8.2; haizea F79).

    Options: ``pricing_min_rate`` (0.10) and ``pricing_max_rate`` (10.00), which are the range of users' rates in
    section 8.3, and ``pricing_seed`` (0). A draw depends only on its number and the seed, so an engine that takes over
    continues the sequence.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._least = options.number("pricing_min_rate", 0.10)
        self._most = options.number("pricing_max_rate", 10.0)
        if self._most < self._least:
            raise InvalidValueError(
                "policy option pricing_max_rate", f"must be at least pricing_min_rate = {self._least}, not {self._most}"
            )
        self._seed = options.integer("pricing_seed", 0)
        self._drawn = 0
        self._changed = False

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        digest = sha256(f"{self._seed} {self._drawn}".encode()).digest()
        share = (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / (1 << _BITS)
        return self._least + (self._most - self._least) * share

    def quoted(self) -> None:
        """See ``PricingPolicy.quoted``."""
        self._drawn += 1
        self._changed = True

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, False
        return {_KEY: {"drawn": self._drawn}} if changed else {}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``."""
        self._drawn = int(learnt.get(_KEY, {}).get("drawn", 0))
        self._changed = False
