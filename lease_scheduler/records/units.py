"""Hosts by id and by number."""

from __future__ import annotations

from collections.abc import Iterable


class Units:
    """What leases hold has a number in the plan and an id everywhere else: compute hosts and floating IPs.

    Number 0 is nobody's: a site without hosts still has that one. A host that leaves the pool and comes back has a new
    id and its old number.

    :param ids: units 1, 2, 3 and so on
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        for number, unit_id in enumerate(ids, start=1):
            self.assign(unit_id, number)

    def assign(self, unit_id: str, number: int) -> None:
        """Note the number of a unit."""
        self._ids[number] = unit_id
        self._numbers[unit_id] = number

    def number(self, unit_id: str) -> int:
        """The number of a unit.

        :raises KeyError: it is not known
        """
        return self._numbers[unit_id]

    def id(self, number: int) -> str:
        """The id of a unit."""
        return self._ids[number]

    def ids(self, numbers: Iterable[int]) -> list[str]:
        """The ids of many."""
        return [self._ids[number] for number in numbers]

    def numbers(self, unit_ids: Iterable[str]) -> tuple[int, ...]:
        """The numbers of many."""
        return tuple(self._numbers[unit_id] for unit_id in unit_ids)
