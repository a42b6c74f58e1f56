"""The sites of a gateway, as the REST interface shows them."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.federation.published_load import plain_load
from lease_scheduler.model.documents import Document
from lease_scheduler.service.gateway.calling import Members
from lease_scheduler.service.gateway.interfaces import GatewayStore


class GatewaySites:
    """The members of a gateway, in the configured order.

    :param members: the members
    :param store: the database
    """

    def __init__(self, members: Members, store: GatewayStore) -> None:
        self._members = members
        self._store = store

    @property
    def names(self) -> Sequence[str]:
        """The names of the sites."""
        return self._members.names

    def unreachable(self) -> dict[str, int]:
        """Return the sites that do not answer, with the instant since which they do not.

        All gateways on the database have the same answer.
        """
        return self._store.unreachable()

    def shown(self) -> list[Document]:
        """Return the sites. No site is asked for that.

        A site has ``name``, ``state`` (see ``Condition``), the instants ``last_answer`` and ``unreachable_since`` or
        None, and what it says of itself: ``verbs``, ``speed``, ``capacity`` and ``load``, which are None as long as it
        has not, or does not tell.
        """
        unreachable = self.unreachable()
        return [self._shown(name, unreachable.get(name)) for name in self.names]

    def _shown(self, name: str, unreachable_since: int | None) -> Document:
        reachability, described = self._members.reachability(name), self._members.known(name)
        found: Document = {
            "name": name,
            "state": reachability.condition.value,
            "last_answer": reachability.last_answer,
            "unreachable_since": unreachable_since,
            "verbs": None,
            "speed": None,
            "capacity": None,
            "load": None,
        }
        if described is None:
            return found
        return found | {
            "verbs": sorted(verb.value for verb in described.verbs),
            "speed": described.speed,
            "capacity": dict(described.capacity) or None,
            "load": None if described.load is None else plain_load(described.load),
        }
