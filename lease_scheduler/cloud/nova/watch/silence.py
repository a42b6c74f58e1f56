"""Detection of dead compute services among those that are silent only because of an outage of the message bus.

Nova reports a service as down when it has not heard from it for a while. After an outage, services return one after the
other, because oslo.messaging reconnects at growing intervals of up to half a minute.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Patience:
    """Times for which services may be down before their hosts count as dead.

    :ivar grace: seconds for any service
    :ivar reconnection: additional seconds for services that were down together with more than half of all, as in an
        outage of the bus
    """

    grace: float = 0.0
    reconnection: float = 0.0


class Silence:
    """The silence of compute services.

    :param patience: how long services may be silent
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since: dict[str, float] = {}
        self._common: frozenset[str] = frozenset()

    def is_general(self, services: Collection[Any], now: float) -> bool:
        """Note which services are silent. Return whether all are, which says nothing about any single host.

        :param services: compute services as novaclient lists them
        :param now: monotonic seconds
        """
        # Nova shows no state for services in a cell that does not answer.
        silent = {each.host for each in services if getattr(each, "state", None) == "down"}
        expected = {each.host for each in services if each.status == "enabled" and not is_forced_down(each)}
        missing = expected & silent
        # With a single service, an outage of the bus cannot be distinguished from an outage of the host.
        is_general = len(expected) > 1 and missing == expected
        self._since = {host: now if is_general else self._since.get(host, now) for host in silent}
        if len(expected) > 1 and 2 * len(missing) > len(expected):
            self._common |= missing
        self._common &= silent
        return is_general

    def is_over(self, service: Any, now: float) -> bool:
        """Return whether a service that is down has been silent for too long. Call ``is_general`` first."""
        if is_forced_down(service):
            return True
        patience = self._patience
        allowed = patience.grace + (patience.reconnection if service.host in self._common else 0.0)
        return now - self._since.get(service.host, now) >= allowed


def is_forced_down(service: Any) -> bool:
    """Return whether an operator has forced a service down."""
    return bool(getattr(service, "forced_down", False))
