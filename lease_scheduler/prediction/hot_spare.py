"""How much capacity to keep awake for what may be requested next (Pucher 2016, section 3.3.4).

The history is one of bursts: how many cores were requested in an epoch. An upper bound of a quantile of them is what
should be free on hosts that are awake.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.bounds import check_probability


class Burst(Enum):
    """What counts as the burst of an epoch.

    ``GROSS``: all cores that were requested. ``NET``: the largest increase of the cores in use since its beginning.
    """

    GROSS = "gross"
    NET = "net"


@dataclass(frozen=True)
class SpareRules:
    """How bursts become a spare.

    :ivar quantile: share of the epochs whose burst should find hosts that are awake
    :ivar confidence: of the bound; None for the quantile of the history itself
    :ivar burst: what counts as a burst
    :ivar active_only: whether epochs in which nothing was requested are left out. Long idleness would otherwise dilute
        the quantile until nothing is kept awake
    :ivar detect_changes: whether the history is cut where bursts change
    :ivar least_epochs: epochs before the first answer
    :ivar most_epochs: epochs that are kept
    :raises InvalidValueError: a probability is not between 0 and 1, or a number of epochs is out of range
    """

    quantile: float = 0.95
    confidence: float | None = 0.95
    burst: Burst = Burst.GROSS
    active_only: bool = True
    detect_changes: bool = False
    least_epochs: int = 60
    most_epochs: int = 2000

    def __post_init__(self) -> None:
        check_probability("quantile", self.quantile)
        if self.confidence is not None:
            check_probability("confidence", self.confidence)
        if not 1 <= self.least_epochs <= self.most_epochs:
            raise InvalidValueError("least_epochs", f"must be from 1 to most_epochs ({self.most_epochs})")


class HotSpare:
    """Learns from bursts how many cores to keep awake and free.

    :param rules: how bursts become a spare
    """

    def __init__(self, rules: SpareRules) -> None:
        self._rules = rules
        self._predictor = (
            Bmbp(rules.quantile, rules.confidence, window=rules.most_epochs, detect_changes=rules.detect_changes)
            if rules.confidence is not None
            else None
        )
        self._bursts: deque[int] = deque(maxlen=rules.most_epochs)
        self._epochs = 0
        self._requested = 0
        self._in_use = 0
        self._first = 0
        self._highest = 0

    def started(self, cores: int) -> None:
        """Count what has been requested and is in use from now on."""
        self._requested += cores
        self._in_use += cores
        self._highest = max(self._highest, self._in_use)

    def ended(self, cores: int) -> None:
        """Count what is not in use any more."""
        self._in_use -= cores

    def end_epoch(self) -> None:
        """Learn from the epoch that ends now, and begin the next."""
        burst = self._requested if self._rules.burst is Burst.GROSS else self._highest - self._first
        if self._requested or not self._rules.active_only:
            self._learn(burst)
        self._epochs += 1
        self._requested = 0
        self._first = self._highest = self._in_use

    @property
    def is_learning(self) -> bool:
        """Whether fewer epochs have passed than there must be before the first answer."""
        return self._epochs < self._rules.least_epochs

    def state(self) -> dict[str, Any]:
        """Return what ``restore`` needs to go on: plain values that fit into JSON, without the present epoch."""
        return {"bursts": list(self._bursts), "epochs": self._epochs}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` returned.

        :raises InvalidValueError: it is not what ``state`` returns
        """
        try:
            bursts, epochs = [int(burst) for burst in state["bursts"]], int(state["epochs"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("state", f"must be what state() returned: {error!r}") from None
        for burst in bursts[-self._rules.most_epochs :]:
            self._learn(burst)
        self._epochs = epochs

    def _learn(self, burst: int) -> None:
        self._bursts.append(burst)
        if self._predictor is not None:
            self._predictor.observe(burst)

    def cores(self) -> float | None:
        """Return how many cores to keep awake and free, or None as long as too little is known."""
        if self.is_learning or not self._bursts:
            return None
        if self._predictor is not None:
            bound = self._predictor.bound()
            # With too few active epochs for a bound, the largest of them is all that is known.
            return max(self._bursts) if bound is None else bound
        rank = math.ceil(self._rules.quantile * len(self._bursts))
        return sorted(self._bursts)[max(rank, 1) - 1]


@dataclass(frozen=True, slots=True)
class PoweredHost:
    """A host as far as its power matters.

    :ivar cores: its size
    :ivar free: cores that are not in use
    :ivar is_awake: whether it is awake, or waking
    :ivar is_waking: whether it is not awake yet; it is not put to sleep then
    """

    cores: int
    free: int
    is_awake: bool
    is_waking: bool = False


@dataclass(frozen=True, slots=True)
class PowerChange:
    """What to do with hosts, by their places in the list.

    :ivar wake: hosts to wake, in order
    :ivar sleep: empty hosts to put to sleep, in order
    """

    wake: tuple[int, ...]
    sleep: tuple[int, ...]


def power_change(hosts: Sequence[PoweredHost], spare: float) -> PowerChange:
    """Return which hosts to wake and which to put to sleep, so that the spare, and little more, is awake and free.

    :param hosts: in the order in which they are filled
    :param spare: cores that should be awake and free
    """
    awake = sum(host.free for host in hosts if host.is_awake)
    wake: list[int] = []
    sleep: list[int] = []
    for place, host in enumerate(hosts):
        if awake >= spare:
            break
        if not host.is_awake:
            wake.append(place)
            awake += host.cores
    for place in range(len(hosts) - 1, -1, -1):
        host = hosts[place]
        is_idle = host.is_awake and not host.is_waking and host.free == host.cores
        if is_idle and awake - host.cores >= spare:
            sleep.append(place)
            awake -= host.cores
    return PowerChange(tuple(wake), tuple(sleep))
