"""Strangers: projects without a lease, whose servers try to get on hosts of leases, above all as these change hands."""

from __future__ import annotations

import time
from collections.abc import Mapping

from lease_scheduler.rehearsal.actors.bookings import Desk, Verb
from lease_scheduler.rehearsal.actors.servers import SERVERS, boot, boot_anywhere, boot_in_zone, boot_with_others
from lease_scheduler.rehearsal.site import SPOT

#: Seconds that a stranger looks ahead for a lease that starts or ends.
_AHEAD = 900.0

#: Seconds around the start or end of a lease at which a stranger boots.
_AROUND = (-6.0, 4.0)

_SERVERS = 3


def _rush(desk: Desk) -> None:
    """Boot servers at the instant at which a lease starts or ends."""
    now = time.time()
    instants = [
        instant
        for each in desk.ledger.leases.values()
        for instant in (each.start, each.end)
        if instant is not None and now < instant < now + _AHEAD
    ]
    if instants:
        time.sleep(max(0.0, desk.random.choice(instants) - now + desk.random.uniform(*_AROUND)))
        for _ in range(_SERVERS):
            boot(desk, desk.random.choice((SPOT, "small")))


#: Name -> verb, with the weight by which strangers choose it.
STRANGERS: Mapping[str, tuple[Verb, float]] = {
    "stranger-boots": (boot_anywhere, 3.0),
    "stranger-rushes": (_rush, 4.0),
    "stranger-names-zone": (boot_in_zone, 0.5),
    "stranger-names-lease": (boot_with_others, 1.0),
    **{
        f"stranger-{name}": (SERVERS[name][0], weight)
        for name, weight in (
            ("delete-server", 3.0),
            ("resize", 1.0),
            ("confirm", 0.5),
            ("revert", 0.5),
            ("shelve", 0.5),
            ("unshelve", 0.7),
            ("rebuild", 0.3),
        )
    },
}
