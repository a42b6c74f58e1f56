"""Detection of changes of our host aggregates, which an administrator can edit by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.observations import AggregateChange
from lease_scheduler.nova import aggregates as metadata

#: Names of the aggregates of leases (``names.aggregate``), to recognize those whose metadata has lost the lease.
_NAME = re.compile(r"lease-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-shared)?")


class Edits:
    """Detector of changed aggregates. It cannot tell who changed one; it may have been the engine itself.

    :param nova: novaclient's client with administrator rights
    :param node_names: returns compute service -> name of its hypervisor
    :param freepool: name of the aggregate of all hosts that leases may use
    """

    def __init__(self, nova: Any, node_names: Callable[[], Mapping[str, str]], freepool: str) -> None:
        self._nova = nova
        self._node_names = node_names
        self._freepool = freepool
        self._known: dict[int, AggregateChange] | None = None

    def look(self, aggregates: Iterable[Any]) -> list[AggregateChange]:
        """Return our aggregates that have changed or gone since the last call. The first call returns none.

        :param aggregates: all aggregates, as novaclient lists them
        """
        found = {each.id: value for each in aggregates if (value := self._value(each)) is not None}
        known, self._known = self._known, found
        if known is None:
            return []
        changed = [found[number] for number in found.keys() & known.keys() if found[number] != known[number]]
        gone = [_gone(known[number]) for number in known.keys() - found.keys()]
        return sorted((*changed, *gone), key=lambda each: each.name)

    def look_at(self, number: int) -> list[AggregateChange]:
        """Return a list of the aggregate with this id, if it is ours and has changed or gone since it was last seen.

        An aggregate that was not seen yet counts as changed, because a notification named it.
        """
        known = (self._known or {}).get(number)
        try:
            found = self._value(self._nova.aggregates.get(number))
        except NotFound:
            found = None
        if found == known:
            return []
        if self._known is not None:
            self._known.pop(number, None)
            if found is not None:
                self._known[number] = found
        if found is not None:
            return [found]
        return [] if known is None else [_gone(known)]

    def _value(self, aggregate: Any) -> AggregateChange | None:
        """Return the present state of an aggregate, or None if it is not ours."""
        said: Mapping[str, str] = aggregate.metadata or {}
        named = _NAME.fullmatch(aggregate.name)
        lease_id = said.get(metadata.LEASE_ID) or (named and named[1])
        if lease_id is None and aggregate.name != self._freepool:
            return None
        node_names = self._node_names()
        hosts = frozenset(node_names.get(host, host) for host in aggregate.hosts or ())
        return AggregateChange(aggregate.name, lease_id, hosts, dict(said))


def _gone(known: AggregateChange) -> AggregateChange:
    return AggregateChange(known.name, known.lease_id, exists=False)
