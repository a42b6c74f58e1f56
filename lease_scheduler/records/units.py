"""Ids and numbers of hosts and floating IPs."""

from __future__ import annotations

from collections.abc import Iterable


class Units:
    """Numbers and ids of units: compute hosts and floating IPs. The plan uses numbers, everything else uses ids.

    No unit has number 0, because every site begins with a host without capacity. A host that leaves the pool and
    returns has a new id and its old number.

    :param ids: ids of the units 1, 2, 3 and so on
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        for number, unit_id in enumerate(ids, start=1):
            self.assign(unit_id, number)

    def assign(self, unit_id: str, number: int) -> None:
        """Store the number of a unit."""
        self._ids[number] = unit_id
        self._numbers[unit_id] = number

    def number(self, unit_id: str) -> int:
        """Return the number of a unit.

        :raises KeyError: the unit is not known
        """
        return self._numbers[unit_id]

    def id(self, number: int) -> str:
        """Return the id of a unit."""
        return self._ids[number]

    def ids(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of several units."""
        return [self._ids[number] for number in numbers]

    def numbers(self, unit_ids: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of several units."""
        return tuple(self._numbers[unit_id] for unit_id in unit_ids)
