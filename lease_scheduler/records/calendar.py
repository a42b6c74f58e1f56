"""Leases of the calendar page, at a version of the site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SiteVersion(NamedTuple):
    """Version of the site in the database. Every transaction of its engine makes a new one.

    :ivar epoch: fencing number of the engine; grows when another engine takes over
    :ivar revision: number of transactions so far
    """

    epoch: int
    revision: int


class HeldHosts(NamedTuple):
    """Hosts that leases hold at an instant.

    :ivar hosts: ids of the hosts
    :ivar until: next instant at which they change without a new transaction; None if there is none
    """

    hosts: frozenset[str]
    until: int | None


class CalendarEntry(NamedTuple):
    """A lease of the calendar.

    :ivar revision: revision of the site at which the lease changed last
    :ivar queue_position: place in the queue, from 1 on; None if the lease is not queued
    """

    lease_id: str
    revision: int
    queue_position: int | None


class CalendarIndex(NamedTuple):
    """Leases of the calendar.

    :ivar removed: ids of leases that have left the calendar
    """

    version: SiteVersion
    leases: Sequence[CalendarEntry]
    removed: Sequence[str] = ()
