"""Changes of the values in an image plan: each function returns a new value, and leaves its argument as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from lease_scheduler.model.transfer import Transfer, TransferUser

_Value = TypeVar("_Value")


def in_order(transfers: Iterable[Transfer]) -> tuple[Transfer, ...]:
    """Return transfers in the order of their starts."""
    return tuple(sorted(transfers, key=lambda transfer: (transfer.start, transfer.number)))


def without_hosts(user: TransferUser, lease_id: str, hosts: frozenset[int]) -> TransferUser | None:
    """Return a user without some of its hosts, or None if no host is left."""
    if user.lease_id != lease_id:
        return user
    left = user.hosts - hosts
    return replace(user, hosts=left) if left else None


def with_hosts(known: Mapping[str, frozenset[int]], key: str, hosts: frozenset[int]) -> Mapping[str, frozenset[int]]:
    """Return a mapping with these hosts for a key, or without the key if there are none."""
    return {**known, key: hosts} if hosts else without(known, (key,))


def without(known: Mapping[str, _Value], keys: Iterable[str]) -> Mapping[str, _Value]:
    """Return a mapping without some keys; the same mapping if it has none of them."""
    gone = set(keys) & known.keys()
    return {key: value for key, value in known.items() if key not in gone} if gone else known


def counted(known: Mapping[str, int], key: str, number: int) -> Mapping[str, int]:
    """Return counts with a number added for a key."""
    return {**known, key: known.get(key, 0) + number} if number else known
