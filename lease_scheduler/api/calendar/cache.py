"""Cache of the calendar page: what many open pages ask for is read and written as JSON once.

Every transaction of the engine gives the site a new version, which is in the database. So what was read at one version
stays valid until the next one, in every process of the API. What a caller may see is decided for each request. Answers
to a project have the project in their key.

Entries also expire after a while, because a purge changes the database without the engine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cachetools import TTLCache

from lease_scheduler.api.calendar.parts import LeasePart
from lease_scheduler.api.context import Caller
from lease_scheduler.api.interfaces import Reader, SiteVersion
from lease_scheduler.model.documents import Document
from lease_scheduler.model.power import HostPower, Watts
from lease_scheduler.records.calendar import HeldHosts

_Value = TypeVar("_Value")

#: Maximum number of bytes of the leases, and of the answers to projects.
_LEASES_SIZE = 48 << 20
_ANSWERS_SIZE = 16 << 20
#: Maximum number of leases in all cached lists. There is a list for each interval and each past version; lists share
#: the leases.
_LISTED = 200_000
#: Maximum number of projects whose leases are counted by state.
_STATES = 1_000
#: Seconds after which an entry expires although its version is the same.
_LEASES_AGE = 300
_AGE = 60
_RIGHTS_AGE = 30
#: Maximum number of changed leases; if there are more, all leases are sent.
_MOST_CHANGES = 1_000


@dataclass(frozen=True)
class Listed:
    """Leases at one version of the site, each with its place in the queue.

    :ivar removed: ids of the leases that are no longer in the list
    """

    version: SiteVersion
    leases: Sequence[tuple[LeasePart, int | None]]
    removed: Sequence[str] = ()


@dataclass(frozen=True)
class Hosts:
    """All hosts at one version of the site.

    :ivar text: the hosts as JSON
    """

    documents: Sequence[Document]
    text: str


@dataclass(frozen=True)
class _Held:
    """The hosts that leases hold.

    :ivar first: first instant at which this is valid
    """

    held: HeldHosts
    first: int

    def is_right(self, now: int) -> bool:
        """Return whether this is still valid at an instant, if the version has not changed."""
        return self.first <= now and (self.held.until is None or now < self.held.until)


@dataclass(frozen=True)
class Rights:
    """The actions that the page offers to a caller. This protects nothing: the policy decides again on each request.

    :ivar may_book: whether the caller may make leases
    :ivar may_change: whether the caller may change leases of their project
    :ivar may_approve: whether the caller may decide on leases of other projects that await approval
    """

    may_book: bool
    may_change: bool
    may_approve: bool


@dataclass(frozen=True)
class ProjectAnswer:
    """The answer to a project, without the present instant.

    :ivar tag: number that identifies the text
    :ivar first: first instant at which the answer is valid
    :ivar until: instant from which the answer is no longer valid; None if time alone changes nothing
    """

    text: str
    tag: int
    first: int
    until: int | None

    def is_right(self, now: int) -> bool:
        """Return whether the answer is still valid at an instant, if the version has not changed."""
        return self.first <= now and (self.until is None or now < self.until)


def _with_power(host: Document, watts: Watts) -> Document:
    """Return a host as the page shows it: if it has ever slept, with its power state and the watts that its sleep
    saves.
    """
    power: HostPower | None = host["power"]
    shown = {name: value for name, value in host.items() if name not in ("power", "watts")}
    if power is None:
        return shown
    saves = watts.of(host["watts"]).saved_wh(3600)
    return shown | {
        "power": {"state": power.state.value, "since": power.since, "slept": power.slept, "saved_watts": saves}
    }


def _answer_size(answer: ProjectAnswer) -> int:
    return 500 + len(answer.text)


def _list_size(found: Listed) -> int:
    return 1 + len(found.leases) + len(found.removed)


def _part_size(part: LeasePart) -> int:
    return part.size


@dataclass
class CalendarCache:
    """Cache of leases, hosts and counts, and of answers to projects.

    :ivar leases_size: maximum number of bytes that the leases may take
    :ivar answers_size: maximum number of bytes that the answers to projects may take
    """

    leases_size: int = _LEASES_SIZE
    answers_size: int = _ANSWERS_SIZE
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._leases: TTLCache[Any, LeasePart] = TTLCache(self.leases_size, _LEASES_AGE, getsizeof=_part_size)
        self._answers: TTLCache[Any, ProjectAnswer] = TTLCache(self.answers_size, _AGE, getsizeof=_answer_size)
        self._lists: TTLCache[Any, Listed] = TTLCache(_LISTED, _AGE, getsizeof=_list_size)
        self._hosts: TTLCache[Any, Hosts] = TTLCache(1, _AGE)
        self._held: TTLCache[Any, _Held] = TTLCache(1, _AGE)
        self._states: TTLCache[Any, Document] = TTLCache(_STATES, _AGE)
        self._rights: TTLCache[Any, Rights] = TTLCache(_STATES, _RIGHTS_AGE)

    @property
    def size(self) -> int:
        """Approximate number of bytes that the leases and answers take."""
        with self._lock:
            return int(self._leases.currsize + self._answers.currsize)

    def everything(self, reader: Reader, version: SiteVersion, start: int, end: int) -> Listed:
        """Return the leases in an interval, at this version of the site or a later one."""

        def read() -> Listed:
            index = reader.calendar_index(start, end)
            found = self._parts(reader, index.version, [(each.lease_id, each.revision) for each in index.leases])
            places = [each.queue_position for each in index.leases]
            return Listed(index.version, [(part, place) for part, place in zip(found, places, strict=True) if part])

        return self._kept(self._lists, (version, start, end), read)

    def changes(self, reader: Reader, version: SiteVersion, since: int, start: int, end: int) -> Listed | None:
        """Return the leases that have changed since a revision, or None if they are so many that all should be sent.

        A lease that has left the interval counts as removed.
        """

        def read() -> Listed | None:
            changed = reader.calendar_changes(since, start, end, _MOST_CHANGES)
            if changed is None:
                return None
            found = self._parts(reader, changed.version, [(each.lease_id, each.revision) for each in changed.leases])
            places = [each.queue_position for each in changed.leases]
            leases = [(part, place) for part, place in zip(found, places, strict=True) if part]
            return Listed(changed.version, leases, changed.removed)

        return self._kept(self._lists, (version, since, start, end), read)

    def hosts(self, reader: Reader, version: SiteVersion, watts: Watts) -> Hosts:
        """Return all hosts.

        :param watts: power that hosts take, unless their properties say something else
        """

        def read() -> Hosts:
            found = [_with_power(host, watts) for host in reader.calendar_hosts()]
            return Hosts(found, json.dumps(found))

        return self._kept(self._hosts, version, read)

    def held_hosts(self, reader: Reader, version: SiteVersion, now: int) -> frozenset[str]:
        """Return the ids of the hosts that leases hold at an instant."""
        with self._lock:
            found = self._held.get(version)
        if found is None or not found.is_right(now):
            found = _Held(reader.held_hosts(now), now)
            self._keep(self._held, version, found)
        return found.held.hosts

    def states(self, reader: Reader, version: SiteVersion, project_id: str | None) -> Document:
        """Return the number of leases by state.

        :param project_id: None means all projects
        """
        return self._kept(self._states, (version, project_id), lambda: reader.lease_states(project_id))

    def answer(self, key: Hashable, now: int, make: Callable[[], ProjectAnswer]) -> ProjectAnswer:
        """Return the answer to a project, made anew if it is no longer valid.

        :param key: everything on which the answer depends besides time: the version of the site, the project, what the
            caller may do, and what was asked for
        """
        with self._lock:
            found = self._answers.get(key)
        if found is not None and found.is_right(now):
            return found
        made = make()
        self._keep(self._answers, key, made)
        return made

    def rights(self, caller: Caller, decide: Callable[[], Rights]) -> Rights:
        """Return the actions that the page offers to a caller, decided anew after 30 seconds."""
        key = (caller.user_id, caller.project_id, caller.roles)
        with self._lock:
            found = self._rights.get(key)
        if found is None:
            found = decide()
            self._keep(self._rights, key, found)
        return found

    def _parts(self, reader: Reader, version: SiteVersion, wanted: Sequence[tuple[str, int]]) -> list[LeasePart | None]:
        """Return leases by id and revision; None for one that no longer exists."""
        epoch = version.epoch
        found: list[LeasePart | None] = []
        missing: list[str] = []
        with self._lock:
            for lease_id, revision in wanted:
                # ``get`` of these caches takes more than twice as long.
                try:
                    found.append(self._leases[epoch, lease_id, revision])
                except KeyError:
                    found.append(None)
                    missing.append(lease_id)
        if not missing:
            return found
        read = {lease["id"]: LeasePart.of(lease) for lease in reader.calendar_leases(missing)}
        for part in read.values():
            self._keep(self._leases, (epoch, part.lease_id, part.revision), part)
        return [part or read.get(lease_id) for part, (lease_id, _) in zip(found, wanted, strict=True)]

    def _kept(self, cache: TTLCache[Any, Any], key: Hashable, read: Callable[[], _Value]) -> _Value:
        with self._lock:
            found: _Value | None = cache.get(key)
        if found is not None:
            return found
        # Many pages ask for the same when the version has changed: one of them reads it.
        with self._reading:
            with self._lock:
                found = cache.get(key)
            if found is None:
                found = read()
                self._keep(cache, key, found)
            return found

    def _keep(self, cache: Any, key: Hashable, value: object) -> None:
        with self._lock:
            if value is not None and cache.getsizeof(value) <= cache.maxsize:
                cache[key] = value
