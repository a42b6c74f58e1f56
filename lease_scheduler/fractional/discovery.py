"""What fluid leases need, as far as it can be told from what they use (Stillwell 2010, section 7.2.2; dfrs A32).

A lease that uses less than it is given needs what it uses. One that uses all of it may need more, and only a trial can
tell: for one interval it is given all that others do not hold. The prototype of the thesis tries one VM after the
other, always, and so slows the others down for a third of the time. Here only leases that use all that they are given
are tried, and the others keep what they hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil

#: Interval of a cycle in which there are trials, of so many (A32: discovery, allocation, execution).
_CYCLE = 3

#: A lease that uses this part of what it is given uses all of it: counters and clocks are not exact.
_ALL = 0.95

#: Least need: even servers that do nothing use a little, and must be able to begin.
_LEAST = 0.01

#: Differences of needs that are not worth other shares.
_SAME = 0.02


@dataclass(frozen=True)
class Needs:
    """What fluid leases need.

    :ivar parts: lease -> part of its VCPU that it needs, more than 0 and at most 1; others need all of it
    :ivar tried: leases that are given all that others do not hold, to find out what they need
    """

    parts: Mapping[str, float]
    tried: frozenset[str] = frozenset()


#: Nothing is known, so each lease needs what it declared.
UNKNOWN = Needs({})


@dataclass(frozen=True)
class Sharing:
    """How a lease shared CPU for a whole interval.

    :ivar given: part of its VCPU that it was given
    :ivar hosts: hosts of its nodes
    :ivar used: part of its VCPU that its busiest server used; None if that is not known
    """

    given: float
    hosts: Collection[int]
    used: float | None


class NeedDiscovery:
    """Keeps estimates of needs from interval to interval. It forgets a lease whose use is not known for one.

    :param tries: whether there are trials. They need a source that measures exactly the interval; without them a lease
        that uses all that it is given counts as needing what it declared
    """

    def __init__(self, tries: bool) -> None:
        self._tries = tries
        self._parts: dict[str, float] = {}
        #: Lease -> number of the interval of its last trial.
        self._tried_at: dict[str, int] = {}
        self._tried: frozenset[str] = frozenset()
        self._number = 0

    def observe(self, leases: Mapping[str, Sharing | None]) -> Needs:
        """Return what leases need for the next interval.

        :param leases: all fluid leases that run; None for one whose part has changed within the interval, of which
            nothing is learnt
        """
        self._number += 1
        full = set()
        for lease, sharing in leases.items():
            if sharing is None:
                continue
            if sharing.used is None:
                self._parts.pop(lease, None)
            elif sharing.used < _ALL * sharing.given:
                self._learn(lease, sharing.used)
            else:
                full.add(lease)
                if not self._tries or lease in self._tried:
                    # It is slowed down by all that others hold, and by nothing else.
                    self._parts.pop(lease, None)
                elif lease in self._parts:
                    # What others leave may have let it use more than it was given.
                    self._learn(lease, max(sharing.used, self._parts[lease]))
        for lease in self._parts.keys() - leases.keys():
            del self._parts[lease]
        for lease in self._tried:
            self._tried_at[lease] = self._number
        self._tried_at = {lease: at for lease, at in self._tried_at.items() if lease in leases}
        self._tried = self._next_trials(full, leases)
        return Needs(dict(self._parts), self._tried)

    def forget(self) -> Needs:
        """Forget all estimates, since nothing is known of the interval."""
        self._parts, self._tried = {}, frozenset()
        return UNKNOWN

    def _learn(self, lease: str, used: float) -> None:
        need = min(1.0, max(_LEAST, ceil(100 * used - 1e-9) / 100))
        if abs(need - self._parts.get(lease, 1.0)) > _SAME or need < _SAME:
            self._parts[lease] = need

    def _next_trials(self, full: Collection[str], leases: Mapping[str, Sharing | None]) -> frozenset[str]:
        """Return the leases to try: on each host the one whose last trial is longest ago; lower estimates first."""
        if not self._tries or self._number % _CYCLE:
            return frozenset()
        found: set[str] = set()
        taken: set[int] = set()
        for lease in sorted(full, key=lambda each: (self._tried_at.get(each, -1), self._parts.get(each, 1.0), each)):
            sharing = leases[lease]
            # A lease that is given everything has nothing to find out.
            if sharing is not None and sharing.given < _ALL and taken.isdisjoint(sharing.hosts):
                found.add(lease)
                taken.update(sharing.hosts)
        return frozenset(found)
