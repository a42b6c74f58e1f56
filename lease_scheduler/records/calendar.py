"""Which leases the calendar page shows, and at which version of the site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SiteVersion(NamedTuple):
    """A version of the site in the database. Every transaction of its engine makes a new one.

    :ivar epoch: fencing number of the engine; grows when another engine takes over
    :ivar revision: number of transactions
    """

    epoch: int
    revision: int


class HeldHosts(NamedTuple):
    """The hosts that leases hold at an instant.

    :ivar hosts: ids of the hosts
    :ivar until: next instant at which time alone changes them; None if there is none
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

    :ivar removed: ids of leases that are not in the calendar any more
    """

    version: SiteVersion
    leases: Sequence[CalendarEntry]
    removed: Sequence[str] = ()
