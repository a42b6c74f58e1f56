"""What a list needs to know of a lease before it is read."""

from __future__ import annotations

from typing import NamedTuple


class LeaseEntry(NamedTuple):
    """A lease in a list, with all that tells whether it has changed since it was read last.

    :ivar revision: revision of the site at which the lease changed last
    :ivar operation: kind of the operation that the cloud carries out for it, or None
    :ivar breach_count: number of its breaches that are still recorded
    :ivar idle_since: instant since when its servers use nothing, or None
    """

    lease_id: str
    project_id: str
    revision: int
    operation: str | None
    breach_count: int
    idle_since: int | None
