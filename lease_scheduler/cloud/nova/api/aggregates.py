"""Host aggregates, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from novaclient.exceptions import Conflict, NotFound

from lease_scheduler.cloud.nova.api.recent import Recent

#: Seconds for which an answer from Nova is used, unless a change is reported earlier.
_RECENT = 3.0


@dataclass(frozen=True)
class Aggregate:
    """A host aggregate.

    :ivar hosts: names of compute services
    :ivar zone: its availability zone, or None if it is not one
    """

    name: str
    metadata: Mapping[str, str]
    hosts: frozenset[str]
    zone: str | None = None


class Aggregates:
    """The aggregates of Nova.

    To list all of them takes long in a large cloud, so their ids are kept. A step reads the same aggregate many times,
    so an answer from Nova is used for a few seconds, or until something is written here.

    :param nova: novaclient's client, of an administrator
    """

    def __init__(self, nova: Any) -> None:
        self._nova = nova
        self._lock = Lock()
        self._ids: dict[str, int] | None = None
        self._recent: Recent[str, Any] = Recent(_RECENT)

    def all(self) -> list[Aggregate]:
        """Return all aggregates."""
        mark = self._recent.mark()
        found = self._nova.aggregates.list()
        with self._lock:
            self._ids = {each.name: each.id for each in found}
        self._recent.clear()
        for each in found:
            self._recent.put(each.name, each, mark)
        return [_value(each) for each in found]

    def forget(self) -> None:
        """Forget which aggregates there are, because others may have created and removed some."""
        with self._lock:
            self._ids = None
        self._recent.clear()

    def look_again(self, name: str) -> None:
        """Forget the last answer about an aggregate, because others have changed it."""
        self._recent.change(name)

    def find(self, name: str) -> Aggregate | None:
        """Return the aggregate with this name, or None."""
        found = self._find(name)
        return None if found is None else _value(found)

    def ids(self, names: Iterable[str]) -> dict[str, int]:
        """Return name -> id of those of the aggregates that exist, as far as is known. Usually this asks nothing."""
        with self._lock:
            known = self._ids
        if known is None:
            self.all()
        with self._lock:
            known = self._ids or {}
            return {name: known[name] for name in names if name in known}

    def ensure(self, name: str, metadata: Mapping[str, str], hosts: Iterable[str]) -> None:
        """Create or change an aggregate so that it has this metadata and exactly these hosts.

        Other keys of its metadata are left alone.
        """
        found = self._described(name, metadata, None)
        wanted, present = set(hosts), set(found.hosts)
        for host in sorted(wanted - present):
            self._ignore(Conflict, self._nova.aggregates.add_host, found, host)
        for host in sorted(present - wanted):
            self._ignore(NotFound, self._nova.aggregates.remove_host, found, host)

    def describe(self, name: str, metadata: Mapping[str, str], zone: str | None = None) -> None:
        """Create or change an aggregate so that it has this metadata. Its hosts are left alone.

        :param zone: its availability zone if it has to be created
        """
        self._described(name, metadata, zone)

    def add(self, name: str, hosts: Iterable[str]) -> Mapping[str, str]:
        """Add hosts to an aggregate, if it exists.

        :return: host -> why Nova refuses; it moves no host that has servers to another availability zone
        """
        return self._change(name, hosts, lambda host, present: host not in present, self._nova.aggregates.add_host)

    def withdraw(self, name: str, hosts: Iterable[str]) -> Mapping[str, str]:
        """Remove hosts from an aggregate, if it exists.

        :return: host -> why Nova refuses; it takes no host that has servers out of its availability zone
        """
        return self._change(name, hosts, lambda host, present: host in present, self._nova.aggregates.remove_host)

    def set_metadata(self, name: str, metadata: Mapping[str, str | None]) -> None:
        """Change some of the metadata of an aggregate, if it exists. Keys with the value None are removed."""
        found = self._find(name)
        if found is not None and any(found.metadata.get(key) != value for key, value in metadata.items()):
            self._write(self._nova.aggregates.set_metadata, found, dict(metadata))

    def cache_image(self, name: str, image_id: str) -> str | None:
        """Have the hosts of an aggregate fetch an image into their caches (compute API 2.81).

        :return: id of the request, or None if Nova gives none
        """
        found = self._find(name)
        if found is None:
            raise NotFound(404, f"there is no aggregate {name}")
        answer = self._nova.aggregates.cache_images(found, [image_id])
        return next(iter(getattr(answer, "request_ids", ())), None)

    def remove(self, name: str) -> None:
        """Remove an aggregate and its hosts, if it exists."""
        found = self._find(name)
        if found is None:
            return
        for host in found.hosts:
            self._ignore(NotFound, self._nova.aggregates.remove_host, found, host)
        self._ignore(NotFound, self._nova.aggregates.delete, found)
        with self._lock:
            if self._ids is not None:
                self._ids.pop(name, None)

    def _described(self, name: str, metadata: Mapping[str, str], zone: str | None) -> Any:
        found = self._find(name) or self._create(name, zone)
        if any(found.metadata.get(key) != value for key, value in metadata.items()):
            self._write(self._nova.aggregates.set_metadata, found, dict(metadata))
        return found

    def _change(
        self,
        name: str,
        hosts: Iterable[str],
        is_wanted: Callable[[str, Iterable[str]], bool],
        call: Callable[[Any, str], Any],
    ) -> Mapping[str, str]:
        found = self._find(name)
        refused: dict[str, str] = {}
        for host in sorted(hosts) if found is not None else ():
            if not is_wanted(host, found.hosts):
                continue
            try:
                self._write(call, found, host)
            except NotFound:
                continue
            except Conflict as error:
                now = self._find(name)
                # The conflict may mean that others have just made the change.
                if now is not None and is_wanted(host, now.hosts):
                    refused[host] = error.message
        return refused

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
            return self._recent.get(name) or self._ask(name, number)
        except NotFound:
            with self._lock:
                if self._ids is not None:
                    self._ids.pop(name, None)
            return None

    def _ask(self, name: str, number: int) -> Any:
        mark = self._recent.mark()
        found = self._nova.aggregates.get(number)
        self._recent.put(name, found, mark)
        return found

    def _create(self, name: str, zone: str | None) -> Any:
        try:
            made = self._nova.aggregates.create(name, zone)
        except Conflict:
            # It was created meanwhile, for example by a former leader that does not know yet that it is deposed.
            self.all()
            found = self._find(name)
            if found is None:
                raise
            return found
        with self._lock:
            if self._ids is not None:
                self._ids[name] = made.id
        return self._ask(name, made.id)

    def _ignore(self, error: type[Exception], call: Callable[..., Any], found: Any, *arguments: Any) -> None:
        """Make a call that changes an aggregate, and ignore the error which says that the change is made already."""
        try:
            self._write(call, found, *arguments)
        except error:
            return

    def _write(self, call: Callable[..., Any], found: Any, *arguments: Any) -> None:
        """Make a call that changes an aggregate, and use Nova's answer as its new state."""
        mark, now = self._recent.mark(), None
        try:
            now = call(found, *arguments)
        finally:
            self._recent.change(found.name, now, mark)


def _value(found: Any) -> Aggregate:
    return Aggregate(found.name, dict(found.metadata or {}), frozenset(found.hosts or ()), found.availability_zone)
