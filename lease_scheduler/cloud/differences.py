"""What differs between a cloud and what leases should have in it: plain values, compared without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What is made in a cloud for leases."""

    AGGREGATE = "aggregate"
    METADATA = "metadata"
    FLAVOR = "flavor"
    EXTRA_SPECS = "extra_specs"
    ACCESS = "access"
    RESOURCE_CLASS = "resource_class"
    INVENTORY = "inventory"
    CONSUMER = "consumer"
    SERVER = "server"
    SERVER_GROUP = "server_group"
    TRUST = "trust"
    IMAGE = "image"


class Problem(StrEnum):
    """In which way something is not as it should be."""

    MISSING = "missing"
    DIFFERENT = "different"
    LEFT_OVER = "left_over"
    #: It is on a host for leases, and no lease explains it.
    INTRUDING = "intruding"


class Presence(StrEnum):
    """How much of a lease is in the cloud: everything, what is needed to resume it, or what it has before it begins."""

    RUNNING = "running"
    SAVED = "saved"
    WAITING = "waiting"


@dataclass(frozen=True)
class Item:
    """Something in the cloud.

    :ivar name: by which it is found again; unique within its kind
    :ivar lease_id: whose it is, None if it is the pool's or nobody knows
    :ivar contents: what is compared
    :ivar inside: name of the item that it is a part of; a part of something that is missing is not told of
    :ivar is_complete: whether it has nothing but ``contents``
    """

    kind: Kind
    name: str
    lease_id: str | None = None
    contents: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[Kind, str] | None = None
    is_complete: bool = False


@dataclass(frozen=True)
class Difference:
    """Something that is not as it should be.

    :ivar detail: for people
    :ivar reference: what a left-over item belongs to, as far as it tells (the id of a reservation, say)
    :ivar host: name of the host on which somebody else has what is missing, None if nobody has
    :ivar is_ours_to_mend: whether it can be repaired at all
    """

    kind: Kind
    problem: Problem
    name: str
    lease_id: str | None = None
    detail: str = ""
    reference: str = ""
    host: str | None = None
    is_ours_to_mend: bool = True


def compare(wanted: Iterable[Item], found: Mapping[tuple[Kind, str], Item]) -> list[Difference]:
    """Return what is missing or different, in the order of what is wanted.

    :param found: by kind and name
    """
    differences = []
    missing: set[tuple[Kind, str]] = set()
    for item in wanted:
        present = found.get((item.kind, item.name))
        if item.inside in missing:
            continue
        if present is None:
            missing.add((item.kind, item.name))
            differences.append(Difference(item.kind, Problem.MISSING, item.name, item.lease_id))
            continue
        detail = _detail(item, present)
        if detail:
            differences.append(Difference(item.kind, Problem.DIFFERENT, item.name, item.lease_id, detail))
    return differences


def _detail(wanted: Item, present: Item) -> str:
    keys = wanted.contents.keys() | (present.contents.keys() if wanted.is_complete else set())
    parts = []
    for key in sorted(keys):
        is_now, should_be = present.contents.get(key), wanted.contents.get(key)
        if is_now != should_be:
            parts.append(f"{key} is {is_now or 'not there'}, should be {should_be or 'absent'}")
    return "; ".join(parts)
