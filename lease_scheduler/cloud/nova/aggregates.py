"""Host aggregates, found again by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from novaclient.exceptions import Conflict, NotFound


@dataclass(frozen=True)
class Aggregate:
    """A host aggregate.

    :ivar hosts: names of compute services
    """

    name: str
    metadata: Mapping[str, str]
    hosts: frozenset[str]


class Aggregates:
    """The aggregates of Nova. Listing them all is dear in a large cloud, so it is done once and after surprises.

    :param nova: novaclient's client, of an administrator
    """

    def __init__(self, nova: Any) -> None:
        self._nova = nova
        self._lock = Lock()
        self._ids: dict[str, int] | None = None

    def all(self) -> list[Aggregate]:
        """Every aggregate there is."""
        found = self._nova.aggregates.list()
        with self._lock:
            self._ids = {each.name: each.id for each in found}
        return [_value(each) for each in found]

    def find(self, name: str) -> Aggregate | None:
        """The aggregate of a name, none if there is none."""
        found = self._find(name)
        return None if found is None else _value(found)

    def ensure(self, name: str, metadata: Mapping[str, str], hosts: Iterable[str]) -> None:
        """An aggregate with this metadata and exactly these hosts; other keys of its metadata are left alone."""
        found = self._find(name) or self._create(name)
        if any(found.metadata.get(key) != value for key, value in metadata.items()):
            self._nova.aggregates.set_metadata(found, dict(metadata))
        wanted, present = set(hosts), set(found.hosts)
        for host in sorted(wanted - present):
            self._ignore(Conflict, self._nova.aggregates.add_host, found, host)
        for host in sorted(present - wanted):
            self._ignore(NotFound, self._nova.aggregates.remove_host, found, host)

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Change some of the metadata of an aggregate, if it is there."""
        found = self._find(name)
        if found is not None and any(found.metadata.get(key) != value for key, value in metadata.items()):
            self._nova.aggregates.set_metadata(found, dict(metadata))

    def remove(self, name: str) -> None:
        """Remove an aggregate if it is there, its hosts first."""
        found = self._find(name)
        if found is None:
            return
        for host in found.hosts:
            self._ignore(NotFound, self._nova.aggregates.remove_host, found, host)
        self._ignore(NotFound, self._nova.aggregates.delete, found)
        with self._lock:
            if self._ids is not None:
                self._ids.pop(name, None)

    def _find(self, name: str) -> Any:
        with self._lock:
            known = self._ids
        if known is None:
            self.all()
        with self._lock:
            number = (self._ids or {}).get(name)
        if number is None:
            return None
        try:
            return self._nova.aggregates.get(number)
        except NotFound:
            with self._lock:
                if self._ids is not None:
                    self._ids.pop(name, None)
            return None

    def _create(self, name: str) -> Any:
        try:
            made = self._nova.aggregates.create(name, None)
        except Conflict:
            # Somebody else made it, such as an engine that led before and did not know yet that it does not any more.
            self.all()
            found = self._find(name)
            if found is None:
                raise
            return found
        with self._lock:
            if self._ids is not None:
                self._ids[name] = made.id
        return self._nova.aggregates.get(made.id)

    @staticmethod
    def _ignore(error: type[Exception], call: Any, *arguments: Any) -> None:
        """Make a call that may find its work done already."""
        try:
            call(*arguments)
        except error:
            return


def _value(found: Any) -> Aggregate:
    return Aggregate(found.name, dict(found.metadata or {}), frozenset(found.hosts or ()))
