"""Resource vectors: integer amounts of named classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lease_scheduler.model.errors import InvalidValueError

VCPU = "VCPU"
MEMORY_MB = "MEMORY_MB"
DISK_GB = "DISK_GB"

#: A class of which every compute host of the service offers the amount ``WHOLE_HOST``. A node takes one unit for each
#: of its servers; a node that needs an exclusive host takes all of it. So exclusive hosts need no rule of their own,
#: only capacity.
HOST_SHARE = "HOST_SHARE"
WHOLE_HOST = 1_000_000

#: A floating IP is planned as a host with a capacity of 1 in this class.
FLOATING_IP = "FLOATING_IP"


class Resources(Mapping[str, int]):
    """An immutable, hashable resource vector: class name -> amount.

    Classes with amount 0 are dropped, so vectors with the same meaning are equal. Haizea calls this a resource tuple
    (Sotomayor 2010, section 3.1), Placement calls it resources.

    :raises InvalidValueError: an amount is not a non-negative integer
    """

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int]) -> None:
        for name, amount in amounts.items():
            if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
                raise InvalidValueError(f"resources.{name}", f"must be an integer of at least 0, not {amount!r}")
        self._amounts = {name: amounts[name] for name in sorted(amounts) if amounts[name]}
        self._hash = hash(tuple(self._amounts.items()))

    def __getitem__(self, name: str) -> int:
        return self._amounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Resources):
            return self._amounts == other._amounts
        return NotImplemented

    def __repr__(self) -> str:
        return f"Resources({self._amounts!r})"

    def __str__(self) -> str:
        return ",".join(f"{name}:{amount}" for name, amount in self._amounts.items())

    def fits_in(self, capacity: Mapping[str, int]) -> bool:
        """Return whether no amount exceeds the capacity of its class."""
        return all(amount <= capacity.get(name, 0) for name, amount in self._amounts.items())

    def replaced(self, **amounts: int) -> Resources:
        """Return the vector with some amounts replaced."""
        return Resources({**self._amounts, **amounts})
