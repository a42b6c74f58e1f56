"""Records of the images of servers of a lease, in the metadata of its aggregates.

Tenants may give their own images any properties, so properties alone prove nothing. A record has a key that only
administrators can read. It is written before the image is made, so no earlier image can have the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known, LeaseAggregates

#: Last field of a record of an image that is lost; other records do not have this field.
_LOST = "lost"


@dataclass(frozen=True)
class ImageRecord:
    """What is known about the image of a server.

    :ivar moment: instant of the action before the end for which the image is made, as text, or ``snapshots.AT_END``
    :ivar key: property by which the image of the last attempt is recognized; empty before the first attempt and when
        an attempt has failed at once
    :ivar attempts: number of attempts
    :ivar at: instant at which the last attempt began
    :ivar since: instant at which the record was made, or at which the server was set apart
    :ivar is_apart: whether the server is stopped, and its host belongs to other leases
    :ivar is_lost: whether its project was told that there will be no image, so that the server is deleted
    """

    moment: str
    key: str
    attempts: int
    at: int
    since: int
    is_apart: bool = False
    is_lost: bool = False


class ImageRecords:
    """The records of images of leases."""

    def __init__(self, aggregates: LeaseAggregates) -> None:
        self._aggregates = aggregates

    def of_lease(self, lease_id: str) -> Mapping[str, ImageRecord]:
        """Return server -> record."""
        known = self._aggregates.known(lease_id)
        return {} if known is None else read(known)

    def write(self, lease_id: str, server_id: str, record: ImageRecord | None) -> None:
        """Write a record, or remove it."""
        self._aggregates.note_image(lease_id, server_id, None if record is None else _text(record))


def new_key() -> str:
    """Return a new key, which nobody can guess."""
    return uuid4().hex


def read(known: Known) -> dict[str, ImageRecord]:
    """Return the records of a lease: server -> record."""
    return _read(known.images)


def apart(images: Mapping[str, str]) -> frozenset[str]:
    """Return the servers that are stopped on hosts of other leases until images of them are complete.

    :param images: server -> text of its record in the metadata of an aggregate
    """
    return frozenset(server_id for server_id, record in _read(images).items() if record.is_apart)


def _text(record: ImageRecord) -> str:
    fields = (record.moment, record.attempts, record.at, record.since, int(record.is_apart), record.key)
    return " ".join(str(each) for each in (*fields, *((_LOST,) if record.is_lost else ())))


def _read(images: Mapping[str, str]) -> dict[str, ImageRecord]:
    found = {}
    for server_id, text in images.items():
        moment, attempts, at, since, is_apart, key, *more = text.split(" ")
        numbers = (int(attempts), int(at), int(since))
        found[server_id] = ImageRecord(moment, key, *numbers, is_apart=is_apart == "1", is_lost=more == [_LOST])
    return found
