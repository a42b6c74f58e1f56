"""Entries of lists of leases, before the leases are read."""

from __future__ import annotations

from typing import NamedTuple


class LeaseEntry(NamedTuple):
    """A lease in a list, with everything that shows whether it has changed since it was last read.

    :ivar revision: revision of the site at which the lease changed last
    :ivar operation: kind of the operation that the cloud is carrying out for it, or None
    :ivar breach_count: number of its breaches that are still recorded
    :ivar idle_since: instant since which its servers use nothing, or None
    """

    lease_id: str
    project_id: str
    revision: int
    operation: str | None
    breach_count: int
    idle_since: int | None
