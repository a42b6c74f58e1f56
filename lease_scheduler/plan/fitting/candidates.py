"""Candidate sets: the sets of leases that would make room if all of them were preempted.

Amini Salehi 2012, section 3.1 and equation 3.1 (contention F16). The dissertation gives no algorithm. Here a set of
leases is a bit mask, and what preempting leases gives is a sum of gains, each of which needs certain leases. A
depth-first search adds leases one by one, with the gains that each of them completes, and abandons a branch as soon as
it contains a set that is sufficient or can no longer lead to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: Bits for the number of places of one node set. Numbers of places of several node sets are packed into one integer,
#: so that they are added and compared at once.
_BITS = 40


def packed(numbers: Sequence[int]) -> int:
    """Return one integer for the number of places of each node set. Such integers can be added."""
    return sum(number << (_BITS * index) for index, number in enumerate(numbers))


@dataclass(frozen=True)
class Block:
    """Places that are free once all of certain leases have left.

    :ivar leases: bit mask of these leases
    :ivar gain: number of places, packed
    """

    leases: int
    gain: int


@dataclass(frozen=True)
class Stack:
    """A host where some leases free places alone, and others only together.

    :ivar leases: bit mask of the leases on the host
    :ivar gain: returns the number of places, packed, once a subset of these leases has left
    """

    leases: int
    gain: Callable[[int], int]


class Gains:
    """Places that preempting leases frees, for a request that lacks some.

    :param count: number of leases that might be preempted
    :param missing: number of places that each node set of the request lacks
    :param blocks: hosts where several leases have to leave together, or which one lease holds alone
    :param stacks: all other hosts
    """

    def __init__(self, count: int, missing: Sequence[int], blocks: Sequence[Block], stacks: Sequence[Stack]) -> None:
        self.count = count
        self._top = packed([1 << (_BITS - 1)] * len(missing))
        self._bias = packed([(1 << (_BITS - 1)) - number for number in missing])
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self._stacks: list[list[Stack]] = [[] for _ in range(count)]
        for block in blocks:
            for lease in members(block.leases):
                self._blocks[lease].append((block.leases, block.gain))
        for stack in stacks:
            for lease in members(stack.leases):
                self._stacks[lease].append(stack)
        #: Number of places, packed, once all leases have left.
        self.most = sum(block.gain for block in blocks) + sum(stack.gain(stack.leases) for stack in stacks)
        #: Numbers of the leases that free places, alone or together with others.
        self.useful = [lease for lease in range(count) if self._blocks[lease] or self._stacks[lease]]
        #: Whether each lease frees the same number of places, whichever other leases leave.
        self.are_independent = not stacks and len(missing) == 1 and all(b.leases & (b.leases - 1) == 0 for b in blocks)

    def is_enough(self, gained: int) -> bool:
        """Return whether a number of places, packed, is at least what the request lacks."""
        return (gained + self._bias) & self._top == self._top

    def of(self, lease: int, others: int) -> int:
        """Return how many places, packed, a lease adds if others have left.

        :param lease: its number
        :param others: bit mask of leases without this one
        """
        bit = 1 << lease
        left = others | bit
        gained = 0
        for needed, gain in self._blocks[lease]:
            if needed & left == needed:
                gained += gain
        for stack in self._stacks[lease]:
            on_host = left & stack.leases
            gained += stack.gain(on_host) - stack.gain(on_host ^ bit)
        return gained


def members(leases: int) -> list[int]:
    """Return the numbers of the leases of a bit mask, ascending."""
    found = []
    while leases:
        lowest = leases & -leases
        found.append(lowest.bit_length() - 1)
        leases ^= lowest
    return found


def minimal_sets(gains: Gains) -> list[int]:
    """Return all sufficient sets without a lease that could stay, as bit masks in the order in which they are found.

    Their number grows exponentially with that of the leases. The search is fastest if leases that give much come first.
    """
    found: list[int] = []
    useful, of, is_enough = gains.useful, gains.of, gains.is_enough
    # If leases that give more come first, the last one of a set gives least, and without it the set is insufficient.
    all_are_needed = gains.are_independent and all(of(a, 0) >= of(b, 0) for a, b in pairwise(useful))

    def visit(first: int, chosen: int, gained: int, allowed: int, most: int) -> None:
        for index in range(first, len(useful)):
            lease = useful[index]
            bit = 1 << lease
            more = gained + of(lease, chosen)
            if is_enough(more):
                if all_are_needed or not has_superfluous(gains, chosen | bit, more):
                    found.append(chosen | bit)
            else:
                visit(index + 1, chosen | bit, more, allowed, most)
            allowed ^= bit
            most -= of(lease, allowed)
            if not is_enough(most):
                return

    if is_enough(gains.most) and not is_enough(0):
        visit(0, 0, 0, (1 << gains.count) - 1, gains.most)
    return found


def has_superfluous(gains: Gains, chosen: int, gained: int) -> bool:
    """Return whether a sufficient set has a lease that could stay.

    :param gained: what the set gives
    """
    return any(gains.is_enough(gained - gains.of(lease, chosen ^ (1 << lease))) for lease in members(chosen))


def greedy_set(gains: Gains, order: Sequence[int]) -> int | None:
    """Return a sufficient set without superfluous leases, or None if all leases together are not sufficient.

    Leases are added in the given order until the set is sufficient. Then those that could stay are removed, the last
    one first.
    """
    chosen, gained = 0, 0
    added: list[int] = []
    for lease in order:
        if gains.is_enough(gained):
            break
        gained += gains.of(lease, chosen)
        chosen |= 1 << lease
        added.append(lease)
    if not gains.is_enough(gained):
        return None
    for lease in reversed(added):
        rest = chosen ^ (1 << lease)
        left = gained - gains.of(lease, rest)
        if gains.is_enough(left):
            chosen, gained = rest, left
    return chosen
