"""Tells compute services that died from those that are not heard because the message bus is, or was, away.

Nova calls a service down that it has not heard for a while. When the bus comes back, its services are heard one after
the other: oslo.messaging tries to connect at growing intervals, up to half a minute.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Patience:
    """How long services may be down before their hosts count as dead.

    :ivar grace: seconds, where few are down
    :ivar reconnection: seconds that are added where most were down together, as after an outage of the bus
    """

    grace: float = 0.0
    reconnection: float = 0.0


class Silence:
    """See the module.

    :param patience: for how long silence means nothing
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since: dict[str, float] = {}
        self._common: frozenset[str] = frozenset()

    def is_general(self, services: Collection[Any], now: float) -> bool:
        """Take note of who is silent; return whether everybody is, so that it says nothing of any host.

        :param services: compute services as novaclient lists them
        :param now: monotonic seconds
        """
        # Of services in a cell that does not answer Nova tells no state.
        silent = {each.host for each in services if getattr(each, "state", None) == "down"}
        expected = {each.host for each in services if each.status == "enabled" and not is_forced_down(each)}
        missing = expected & silent
        # Of a single service nobody can tell.
        is_general = len(expected) > 1 and missing == expected
        self._since = {host: now if is_general else self._since.get(host, now) for host in silent}
        if len(expected) > 1 and 2 * len(missing) > len(expected):
            self._common |= missing
        self._common &= silent
        return is_general

    def is_over(self, service: Any, now: float) -> bool:
        """Whether a service that is down has been silent for too long; ``is_general`` has seen it at this look."""
        if is_forced_down(service):
            return True
        patience = self._patience
        allowed = patience.grace + (patience.reconnection if service.host in self._common else 0.0)
        return now - self._since.get(service.host, now) >= allowed


def is_forced_down(service: Any) -> bool:
    """Whether an operator has said that it is down."""
    return bool(getattr(service, "forced_down", False))
