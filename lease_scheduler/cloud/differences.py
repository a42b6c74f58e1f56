"""Differences between a cloud and what leases should have in it, as plain values and a pure comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

#: Kinds of repairs that are counted, and shown as a metric.
REPAIRS = ("destroyed", "gone", "moved", "repaired", "removed")


class Kind(StrEnum):
    """Kind of thing that is made in a cloud for leases."""

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
    """Way in which a thing differs from what it should be."""

    MISSING = "missing"
    DIFFERENT = "different"
    LEFT_OVER = "left_over"
    #: It is on a host for leases, but belongs to none.
    INTRUDING = "intruding"
    #: Like ``INTRUDING``, and the scheduler of the cloud should have kept it out.
    UNFILTERED = "unfiltered"


class Presence(StrEnum):
    """How much a lease has in the cloud: everything, what it needs to resume, or what it has before it starts."""

    RUNNING = "running"
    SAVED = "saved"
    WAITING = "waiting"


@dataclass(frozen=True)
class Item:
    """A thing in the cloud.

    :ivar name: unique within its kind
    :ivar lease_id: its lease, or None if it belongs to the pool or its lease is not known
    :ivar contents: the values that are compared
    :ivar inside: kind and name of the item that it is a part of; parts of a missing item are not reported
    :ivar is_complete: whether it should have nothing but ``contents``
    """

    kind: Kind
    name: str
    lease_id: str | None = None
    contents: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[Kind, str] | None = None
    is_complete: bool = False


@dataclass(frozen=True)
class Difference:
    """A thing that is not as it should be.

    :ivar detail: description for people
    :ivar reference: owner of a left-over item, such as the id of a reservation; empty if the item does not tell
    :ivar host: name of the host on which others have taken what is missing, or None
    :ivar is_ours_to_mend: whether this service can and may repair it
    :ivar is_abandoned: whether it is a trust that was certainly given to this site, and so long ago that it is left
        over unless a lease has it
    """

    kind: Kind
    problem: Problem
    name: str
    lease_id: str | None = None
    detail: str = ""
    reference: str = ""
    host: str | None = None
    is_ours_to_mend: bool = True
    is_abandoned: bool = False


def compare(wanted: Iterable[Item], found: Mapping[tuple[Kind, str], Item]) -> list[Difference]:
    """Return the wanted items that are missing or different, in their order.

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
