"""Discovery of needs: what fluid leases need, as far as their use tells (Stillwell 2010, section 7.2.2; dfrs A32).

A lease that uses less than it is given needs what it uses, if no lease on its hosts wants more than there is. A lease
that uses all of it may need more, and only a trial can tell: for one interval it is given all that others do not hold.
The prototype of the thesis tries one server after the other all the time, and so slows the others down for a third of
the time. Here only leases with an open question are tried, and the others keep what they hold.

Weights promise a part of the CPU while a server wants some, not a mean. A server that works in bursts loses what it
cannot use between them: beside a server that always works, it uses less than it is given and still needs more. The
thesis takes its use for its need and gives it less, of which it uses less again, and so on down to nothing. So where
others want more than there is, a lease that uses less is tried, too. If it uses more in the trial, or less than in the
trial as soon as that is over, it is taken to need what it declared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import ceil

#: A lease that uses this part of what it is given uses all of it: counters and clocks are not exact.
_ALL = 0.95

#: A lease that uses this part of what it could is not known to need less: shares may have come late.
_ENOUGH = 0.7

#: Least need: even servers that do nothing use a little, and must be able to begin.
_LEAST = 0.01

#: Differences of needs up to this are not worth new shares.
_SAME = 0.02

#: A lease that works in bursts may need less when it uses this part of the most that it has used beside others.
_LESS = 0.5


@dataclass(frozen=True)
class Needs:
    """What fluid leases need.

    :ivar parts: lease -> part of its VCPU that it needs, more than 0 and at most 1; others need all of it
    :ivar tried: leases that are given all that others do not hold, to find out what they need
    :ivar likely: part that leases probably need that are not in ``parts`` because of doubts; shares do not depend on it
    """

    parts: Mapping[str, float]
    tried: frozenset[str] = frozenset()
    likely: Mapping[str, float] = field(default_factory=dict)


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


@dataclass(frozen=True)
class _Doubt:
    """A lease that uses less than it is given, although others want more than there is.

    :ivar need: part that it probably needs
    :ivar limit: if it uses this part in a trial, it works in bursts
    :ivar used: part that it uses
    """

    need: float
    limit: float
    used: float


class NeedDiscovery:
    """Keeps estimates of needs from interval to interval. It forgets a lease whose use is unknown for one interval.

    :param gap: returns the number of intervals from one trial to the next, at least 1; A32 has 3, for discovery,
        allocation and execution. It must not be foreseeable: a server that works in step with trials would seem to need
        all that it declared, and one that works between them nearly nothing. None if there are no trials, which need a
        source that measures exactly the interval; a lease that uses all that it is given then counts as needing what it
        declared
    """

    def __init__(self, gap: Callable[[], int] | None) -> None:
        self._gap = gap
        self._parts: dict[str, float] = {}
        self._doubtful: dict[str, _Doubt] = {}
        #: Lease that works in bursts -> the largest part that it has used beside others.
        self._in_bursts: dict[str, float] = {}
        #: Lease that works in bursts -> part that it used in its trial.
        self._bursts: dict[str, float] = {}
        #: Leases that used all that they were given in the latest interval.
        self._were_full: Collection[str] = ()
        #: Lease -> number of the interval of its last trial.
        self._tried_at: dict[str, int] = {}
        self._tried: frozenset[str] = frozenset()
        self._number = 0
        #: Number of the interval after which the next trial begins.
        self._next_trial = 0 if gap is None else gap()

    def observe(self, leases: Mapping[str, Sharing | None]) -> Needs:
        """Return what leases need for the next interval.

        :param leases: all fluid leases that run; None for one whose part has changed within the interval, of which
            nothing is learnt
        """
        self._number += 1
        full = {lease for lease, sharing in leases.items() if sharing is not None and _uses_all(sharing)}
        short = {host for lease in full for host in _hosts(leases[lease]) if _wants_more(leases[lease])}
        aside = {host for lease in self._tried for host in _hosts(leases.get(lease))}
        for lease, sharing in leases.items():
            if sharing is None:
                continue
            if sharing.used is None:
                self._parts.pop(lease, None)
            elif lease in self._tried:
                self._learn_from_trial(lease, None if lease in full else sharing.used)
            elif not aside.isdisjoint(sharing.hosts):
                # What is left beside a trial tells nothing.
                continue
            elif lease in full:
                self._note_full(lease, sharing.used)
            elif short.isdisjoint(sharing.hosts) or sharing.used >= _ALL * self._parts.get(lease, 1.0):
                self._forget_doubts(lease)
                self._learn(lease, sharing.used)
            elif lease not in self._parts or sharing.used < _ENOUGH * min(sharing.given, self._parts[lease]):
                self._doubt(lease, sharing.used)
        for known in (self._parts, self._doubtful, self._in_bursts, self._bursts):
            for lease in known.keys() - leases.keys():
                del known[lease]
        for lease in self._tried:
            self._tried_at[lease] = self._number
        self._tried_at = {lease: at for lease, at in self._tried_at.items() if lease in leases}
        self._tried = self._next_trials((full - self._in_bursts.keys()) | self._doubtful.keys(), leases)
        self._were_full = full
        doubts = {lease: doubt.need for lease, doubt in self._doubtful.items() if lease not in self._parts}
        return Needs(dict(self._parts), self._tried, doubts | self._bursts)

    def forget(self) -> Needs:
        """Forget all estimates, since nothing is known of the interval."""
        self._parts, self._doubtful, self._in_bursts, self._bursts = {}, {}, {}, {}
        self._tried, self._were_full = frozenset(), ()
        return UNKNOWN

    def _learn(self, lease: str, used: float) -> None:
        need = min(1.0, max(_LEAST, ceil(100 * used - 1e-9) / 100))
        if abs(need - self._parts.get(lease, 1.0)) > _SAME or need < _SAME:
            self._parts[lease] = need

    def _learn_from_trial(self, lease: str, used: float | None) -> None:
        """Learn what a lease needs from its trial, in which it was given all that others do not hold.

        :param used: part that it has used; None if that is all
        """
        doubt = self._doubtful.get(lease)
        self._forget_doubts(lease)
        if used is None:
            # It is slowed down by all that others hold, and by nothing else.
            self._parts.pop(lease, None)
        elif doubt is not None and used >= doubt.limit:
            # It could not use what it needs beside the others.
            self._parts.pop(lease, None)
            self._in_bursts[lease], self._bursts[lease] = doubt.used, min(1.0, used)
        else:
            self._learn(lease, used)

    def _note_full(self, lease: str, used: float) -> None:
        """Learn from a lease that uses all that it is given."""
        if lease not in self._in_bursts or lease in self._were_full:
            self._forget_doubts(lease)
        if self._gap is None:
            self._parts.pop(lease, None)
        elif lease in self._parts:
            # What others leave may have let it use more than it was given.
            self._learn(lease, max(used, self._parts[lease]))

    def _doubt(self, lease: str, used: float) -> None:
        """Have a lease tried whose use is below its need and its share, although others want more.

        If nothing was known of it, its use counts as its need until the trial, unless it then uses even less.
        """
        known, earlier = self._parts.pop(lease, None), self._doubtful.get(lease)
        most = self._in_bursts.get(lease)
        if most is not None and used >= _LESS * most:
            self._in_bursts[lease] = max(most, used)
            return
        if self._gap is None:
            return
        self._forget_doubts(lease)
        if known is not None:
            self._doubtful[lease] = _Doubt(known, known - _SAME, used)
        elif earlier is not None:
            self._doubtful[lease] = earlier
        else:
            self._learn(lease, used)
            self._doubtful[lease] = _Doubt(used, used + 2 * _SAME, used)

    def _forget_doubts(self, lease: str) -> None:
        self._doubtful.pop(lease, None)
        self._in_bursts.pop(lease, None)
        self._bursts.pop(lease, None)

    def _next_trials(self, candidates: Collection[str], leases: Mapping[str, Sharing | None]) -> frozenset[str]:
        """Return the leases to try: on each host the one whose last trial is longest ago; lower estimates first."""
        if self._gap is None or self._number < self._next_trial:
            return frozenset()
        self._next_trial = self._number + self._gap()
        found: set[str] = set()
        taken: set[int] = set()
        order = {lease: (self._tried_at.get(lease, -1), self._parts.get(lease, 1.0), lease) for lease in candidates}
        for lease in sorted(order, key=order.__getitem__):
            sharing = leases[lease]
            # A lease that is given everything has nothing to find out.
            if sharing is not None and sharing.given < _ALL and taken.isdisjoint(sharing.hosts):
                found.add(lease)
                taken.update(sharing.hosts)
        return frozenset(found)


def _uses_all(sharing: Sharing) -> bool:
    return sharing.used is not None and sharing.used >= _ALL * sharing.given


def _wants_more(sharing: Sharing | None) -> bool:
    """Return whether a lease that uses all that it is given may want more."""
    return sharing is not None and sharing.given < _ALL


def _hosts(sharing: Sharing | None) -> Collection[int]:
    return () if sharing is None else sharing.hosts
