"""How long a preemptible instance would have lived, had it been started at a recorded instant (Pucher 2016, 4.3.3).

Fictitious instances of infinite duration are started at instants that the caller chooses. The recorded events are then
told one by one, and each instance lives until a regular one would have taken its place. Events are not resampled, so
bursts and autocorrelation are those of the recording.

The youngest are preempted first. So an instance is threatened by regular instances and by preemptible ones that are
older than itself, and not by younger ones. A regular instance that would not have fitted on its recorded node takes
another node on which it fits: since nodes are alike, it is as if the fictitious one had been there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError

_FIRST_ROWS = 256


class Threat(Enum):
    """What an instance is preempted by.

    ``OLDER``: regular instances and older preemptible ones need its cores. ``ALL``: its cores are gone for any reason,
    which is more cautious.
    """

    OLDER = "older"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Lifetime:
    """What became of a fictitious instance.

    :ivar start: instant in seconds
    :ivar slots: how many instances of the size fitted at the start
    :ivar seconds: for how long it lived, or has lived so far
    """

    start: float
    slots: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Preemptible:
    """A preemptible instance that was recorded.

    :ivar before: how many fictitious instances had been started before it
    """

    node: int
    cores: int
    before: int


def slot_count(free: Sequence[int], size: int) -> int:
    """Return how many instances of a size fit.

    :param free: free cores of each node
    :param size: cores of an instance, at least 1
    """
    return sum(max(cores, 0) // size for cores in free)


class LifetimeSampler:
    """Fictitious instances of one size in a recorded cloud.

    The caller tells what happened in the order of time, ends before starts at the same instant, and victims before the
    regular instance for which they were preempted.

    :param capacities: cores of each node, in the order in which nodes are filled. Instances of one core fill nodes so
        that only the sum matters; one node with all cores is then the same, and faster
    :param size: cores of a fictitious instance
    :param threat: what it is preempted by
    """

    def __init__(self, capacities: Sequence[int], size: int = 1, threat: Threat = Threat.OLDER) -> None:
        if size < 1:
            raise InvalidValueError("size", f"must be at least 1, not {size}")
        self.size = size
        self._threat = threat
        self._capacities = np.asarray(capacities, dtype=np.int64)
        self._unused = list(capacities)
        # What regular instances leave of each node, whatever preemptible ones there are.
        self._left = self._capacities.copy()
        self._regular: dict[Hashable, tuple[int, int]] = {}
        self._preemptible: dict[Hashable, _Preemptible] = {}
        self._ended: list[Lifetime] = []
        self._sampled = 0
        # Rows of fictitious instances in the order of their starts; ended ones stay until there are many.
        self._count = 0
        self._is_open = np.zeros(_FIRST_ROWS, dtype=bool)
        self._numbers = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._starts = np.zeros(_FIRST_ROWS)
        self._nodes = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._slots = np.zeros(_FIRST_ROWS, dtype=np.int64)
        # Cores of older preemptible instances, by fictitious instance and node.
        self._older = np.zeros((_FIRST_ROWS, len(self._unused)), dtype=np.int64)

    @property
    def free(self) -> Sequence[int]:
        """Free cores of each node as recorded, negative where nodes were over-committed."""
        return self._unused

    def sample(self, now: float) -> None:
        """Start a fictitious instance, if one fits."""
        node = next((node for node, cores in enumerate(self._unused) if cores >= self.size), None)
        if node is None:
            return
        row = self._new_row()
        self._is_open[row] = True
        self._numbers[row] = self._sampled
        self._starts[row] = now
        self._nodes[row] = node
        self._slots[row] = slot_count(self._unused, self.size)
        self._older[row] = self._left - self._unused
        self._sampled += 1

    def regular_started(self, key: Hashable, node: int, cores: int, now: float, oldest_victim: float = inf) -> None:
        """Tell that a regular instance has started, after its victims have ended.

        :param key: names the instance until it ends
        :param oldest_victim: when the oldest of its victims had started; infinite if it had none
        """
        self._regular[key] = (node, cores)
        self._unused[node] -= cores
        self._left[node] -= cores
        if oldest_victim < inf:
            self._take_instead(node, cores, oldest_victim, now)
        # Older instances are among the recorded ones, so no instance is threatened where these leave enough for one
        # more.
        if self._unused[node] < self.size:
            self._displace(node, cores, now)

    def regular_ended(self, key: Hashable) -> None:
        """Tell that a regular instance has ended."""
        node, cores = self._regular.pop(key)
        self._unused[node] += cores
        self._left[node] += cores

    def preemptible_started(self, key: Hashable, node: int, cores: int, now: float) -> None:
        """Tell that a preemptible instance has started.

        :param key: names the instance until it ends
        """
        self._preemptible[key] = _Preemptible(node, cores, self._sampled)
        self._unused[node] -= cores
        if self._threat is Threat.ALL:
            self._older[: self._count, node] += cores
            if self._unused[node] < self.size:
                self._displace(node, cores, now)

    def preemptible_ended(self, key: Hashable) -> None:
        """Tell that a preemptible instance has ended, by itself or as a victim."""
        gone = self._preemptible.pop(key)
        self._unused[gone.node] += gone.cores
        first = 0
        if self._threat is Threat.OLDER:
            # Those that started before it never counted it.
            first = int(np.searchsorted(self._numbers[: self._count], gone.before))
        self._older[first : self._count, gone.node] -= gone.cores

    def lifetimes(self, now: float) -> list[Lifetime]:
        """Return what became of all fictitious instances, with those that still live as they are at this instant."""
        rows = np.flatnonzero(self._is_open[: self._count])
        living = zip(
            self._starts[rows].tolist(), self._slots[rows].tolist(), (now - self._starts[rows]).tolist(), strict=True
        )
        return [*self._ended, *(Lifetime(*each) for each in living)]

    def forget(self, before: float) -> None:
        """Forget instances that started before an instant."""
        self._ended = [each for each in self._ended if each.start >= before]
        self._is_open[: self._count] &= self._starts[: self._count] >= before
        self._compact()

    def _displace(self, node: int, cores: int, now: float) -> None:
        """Move fictitious instances that no longer fit on a node, or end them."""
        rows = np.flatnonzero(self._is_open[: self._count] & (self._nodes[: self._count] == node))
        rows = rows[self._left[node] - self._older[rows, node] < self.size]
        if not len(rows):
            return
        has_room = self._left - self._older[rows] >= max(cores, self.size)
        has_room[:, node] = False
        can_move = has_room.any(axis=1)
        self._nodes[rows[can_move]] = has_room[can_move].argmax(axis=1)
        self._end(rows[~can_move], now)

    def _take_instead(self, node: int, cores: int, oldest_victim: float, now: float) -> None:
        """End younger instances on other nodes, which would have been preempted instead of the recorded victims."""
        rows = np.flatnonzero(
            self._is_open[: self._count]
            & (self._starts[: self._count] > oldest_victim)
            & (self._nodes[: self._count] != node)
        )
        places = self._nodes[rows]
        self._end(rows[self._left[places] - self._older[rows, places] >= cores], now)

    def _end(self, rows: NDArray[np.int64], now: float) -> None:
        self._is_open[rows] = False
        for start, slots in zip(self._starts[rows].tolist(), self._slots[rows].tolist(), strict=True):
            self._ended.append(Lifetime(start, slots, now - start))

    def _new_row(self) -> int:
        if self._count == len(self._is_open):
            self._compact()
            if self._count > len(self._is_open) // 2:
                self._grow()
        self._count += 1
        return self._count - 1

    def _compact(self) -> None:
        rows = np.flatnonzero(self._is_open[: self._count])
        for values in (self._numbers, self._starts, self._nodes, self._slots, self._older):
            values[: len(rows)] = values[rows]
        self._is_open[: len(rows)] = True
        self._is_open[len(rows) :] = False
        self._count = len(rows)

    def _grow(self) -> None:
        self._is_open = np.concatenate((self._is_open, np.zeros_like(self._is_open)))
        self._numbers = np.concatenate((self._numbers, np.zeros_like(self._numbers)))
        self._starts = np.concatenate((self._starts, np.zeros_like(self._starts)))
        self._nodes = np.concatenate((self._nodes, np.zeros_like(self._nodes)))
        self._slots = np.concatenate((self._slots, np.zeros_like(self._slots)))
        self._older = np.concatenate((self._older, np.zeros_like(self._older)))
